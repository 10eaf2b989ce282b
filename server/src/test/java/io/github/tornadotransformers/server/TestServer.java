package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A server with a small random model, and a client. */
final class TestServer implements AutoCloseable {
    static final String MODEL = "small";
    static final int CONTEXT = 200;
    static final JsonMapper JSON = new JsonMapper();

    private static final int ENDLESS_CONTEXT = 16_000;
    private static final String TEMPLATE =
            "{% for m in messages %}{{ m.role[0] }} {{ m.content }} {% endfor %}{% if add_generation_prompt %}a {% endif %}";

    final ModelServer server;
    private final HttpClient client = HttpClient.newHttpClient();

    private TestServer(ModelServer server) {
        this.server = server;
    }

    static Path model(Path folder, long seed) {
        return model(folder, seed, CONTEXT);
    }

    private static Path model(Path folder, long seed, int context) {
        TestCheckpoints.write(
                folder,
                new Gpt2Config(
                        new Sizes(TestTokenizers.BYTE_LEVEL_VOCAB_SIZE, context, 24, 50, 2), 3, 1e-5f, true, true),
                seed);
        TestTokenizers.byteLevel(folder);
        try {
            Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return folder;
    }

    static ServedModel served(String name, Path folder) {
        return new ServedModel(name, () -> folder, settings());
    }

    /** Named endless: it goes on at temperature 0 for long enough to be stopped. */
    static ServedModel endless(Path folder) {
        model(folder, 5, ENDLESS_CONTEXT);
        return new ServedModel("endless", () -> folder, settings().withContext(ENDLESS_CONTEXT));
    }

    private static EngineSettings settings() {
        return EngineSettings.of(EngineKind.HOST).withThreads(2);
    }

    static TestServer start(ServerSettings settings, ServedModel... models) {
        try {
            return new TestServer(ModelServer.start(settings.withPort(0), List.of(models)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    URI address() {
        return server.address();
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(server.address().resolve(path));
    }

    HttpResponse<String> post(String path, String body) {
        return send(
                request(path).POST(HttpRequest.BodyPublishers.ofString(body)).build());
    }

    HttpResponse<String> get(String path) {
        return send(request(path).build());
    }

    HttpResponse<String> send(HttpRequest request) {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static JsonNode json(HttpResponse<String> response) {
        return json(response.body());
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(text, e);
        }
    }

    /** The objects of a stream, which ends as it should. */
    static List<JsonNode> events(String body) {
        List<JsonNode> events = new ArrayList<>();
        String[] lines = body.strip().split("\n\n", -1);
        for (String line : lines) {
            if (line.startsWith("data: {")) {
                events.add(json(line.substring("data: ".length())));
            }
        }
        if (!lines[lines.length - 1].equals("data: [DONE]")) {
            throw new AssertionError("the stream ends with " + lines[lines.length - 1]);
        }
        return events;
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
