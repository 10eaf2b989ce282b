package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a client or a model does, the server goes on answering the others. */
@Timeout(120)
class FaultsTest {
    private static final String LONG = "{\"prompt\":\"hello\",\"max_tokens\":190,\"stream\":true,\"seed\":1}";
    private static final String SHORT = "{\"prompt\":\"hello\",\"max_tokens\":3}";
    private static final String PATH = "/v1/completions";

    @TempDir
    private Path folder;

    private Path model;

    @BeforeEach
    void write() throws IOException {
        model = TestServer.model(Files.createDirectory(folder.resolve("small")), 5);
    }

    private TestServer start() {
        return TestServer.start(ServerSettings.DEFAULT, TestServer.served(TestServer.MODEL, model));
    }

    private static void assertAnswers(TestServer server) {
        assertThat(server.post(PATH, SHORT).statusCode()).isEqualTo(200);
    }

    private static Socket asking(TestServer server, String body) throws IOException {
        Socket socket = new Socket(server.address().getHost(), server.address().getPort());
        OutputStream out = socket.getOutputStream();
        out.write(("POST " + PATH + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII));
        out.flush();
        return socket;
    }

    @Test
    void idleHalfOpenAndBrokenConnectionsHinderNobody() throws IOException {
        List<Socket> sockets = new ArrayList<>();
        try (TestServer server = start()) {
            for (int i = 0; i < 1_000; i++) {
                sockets.add(
                        new Socket(server.address().getHost(), server.address().getPort()));
            }
            Socket halfRequest = sockets.get(0);
            halfRequest
                    .getOutputStream()
                    .write("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Le"
                            .getBytes(StandardCharsets.US_ASCII));
            Socket halfBody = sockets.get(1);
            halfBody.getOutputStream()
                    .write("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
                            .getBytes(StandardCharsets.US_ASCII));
            sockets.get(2).getOutputStream().write("garbage\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            sockets.get(3).shutdownOutput();
            assertAnswers(server);
            halfBody.close();
            assertAnswers(server);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    /** 100 MB, whose size is said before or not: refused after what is read at most, while others are answered. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bodiesWithoutEndAreRefused(boolean sizeIsSaid) throws IOException, InterruptedException {
        byte[] piece = new byte[1 << 20];
        Arrays.fill(piece, (byte) ' ');
        String size = sizeIsSaid ? "Content-Length: 104857600" : "Transfer-Encoding: chunked";
        try (TestServer server = start()) {
            Thread sender;
            try (Socket socket =
                    new Socket(server.address().getHost(), server.address().getPort())) {
                OutputStream out = socket.getOutputStream();
                out.write(("POST " + PATH + " HTTP/1.1\r\nHost: x\r\n" + size + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
                sender = Thread.ofVirtual().start(() -> {
                    try {
                        for (int i = 0; i < 100; i++) {
                            out.write((sizeIsSaid ? "" : "100000\r\n").getBytes(StandardCharsets.US_ASCII));
                            out.write(piece);
                            out.write((sizeIsSaid ? "" : "\r\n").getBytes(StandardCharsets.US_ASCII));
                        }
                    } catch (IOException _) {
                        // The server need not read what it refuses.
                    }
                });
                assertAnswers(server);
                String answer = new String(socket.getInputStream().readNBytes(200), StandardCharsets.UTF_8);
                assertThat(answer).startsWith("HTTP/1.1 413");
            }
            sender.join();
            assertAnswers(server);
        }
    }

    @Test
    void aReaderThatIsSlowHindersNobodyAndOneThatClosesItsSideGetsItsAnswer() throws IOException {
        try (TestServer server = start();
                Socket slow = asking(server, LONG);
                Socket half = asking(server, LONG)) {
            half.shutdownOutput();
            assertAnswers(server);
            InputStream in = half.getInputStream();
            String answer = new String(in.readNBytes(200), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 200");
            assertThat(slow.getInputStream().read()).isPositive();
        }
    }

    @Test
    void whoGoesEndsHisAnswer() throws IOException, InterruptedException {
        try (TestServer server = start()) {
            for (int i = 0; i < 5; i++) {
                Socket socket = asking(server, LONG);
                assertThat(socket.getInputStream().read()).isPositive();
                socket.setSoLinger(true, 0);
                socket.close();
            }
            StormTest.await(() -> server.server.open() == 0);
            assertAnswers(server);
        }
    }

    @Test
    void moreThanMayWaitAreRefusedAndToldWhenToComeAgain() {
        try (TestServer server =
                TestServer.start(ServerSettings.DEFAULT.withWaiting(1), TestServer.served(TestServer.MODEL, model))) {
            HttpResponse<String> response = server.post(PATH, "{\"prompt\":\"a\",\"n\":40}");
            assertThat(response.statusCode()).isEqualTo(503);
            assertThat(response.headers().firstValue("retry-after")).hasValue("1");
            assertThat(TestServer.json(response).get("error").get("code").textValue())
                    .isEqualTo("overloaded");
            assertAnswers(server);
        }
    }

    @Test
    void aServerThatEndsLetsAnswersEndAndTakesNoMore() throws Exception {
        TestServer server = start();
        URI address = server.address();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = server.request(PATH)
                    .POST(HttpRequest.BodyPublishers.ofString(LONG))
                    .build();
            HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            InputStream body = response.body();
            int first = body.read();
            CompletableFuture<Void> closed = CompletableFuture.runAsync(server.server::close);
            String rest = new String(body.readAllBytes(), StandardCharsets.UTF_8);
            assertThat((char) first + rest).endsWith("data: [DONE]\n\n");
            closed.get();
        }
        assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(() -> new Socket(address.getHost(), address.getPort()).close());
        server.close();
    }

    @Test
    void aModelThatCannotBeLoadedIsSaidAndOthersAnswer() throws IOException {
        Path broken = TestServer.model(Files.createDirectory(folder.resolve("broken")), 6);
        Path weights = broken.resolve("model.safetensors");
        Files.write(weights, Arrays.copyOf(Files.readAllBytes(weights), 500));
        try (TestServer server = TestServer.start(
                ServerSettings.DEFAULT,
                TestServer.served(TestServer.MODEL, model),
                TestServer.served("broken", broken))) {
            HttpResponse<String> response = server.post(PATH, "{\"prompt\":\"a\",\"model\":\"broken\"}");
            assertThat(response.statusCode()).isEqualTo(500);
            assertThat(response.body())
                    .contains("the model broken cannot be loaded")
                    .contains("model.safetensors");
            assertAnswers(server);
        }
    }

    @Test
    void theLeastRecentlyUsedModelGoesWhereMemoryIsWanted() throws IOException {
        Path other = TestServer.model(Files.createDirectory(folder.resolve("other")), 7);
        Path third = TestServer.model(Files.createDirectory(folder.resolve("third")), 8);
        ServedModel[] models = {
            TestServer.served("a", model), TestServer.served("b", other), TestServer.served("c", third)
        };
        try (TestServer roomy = TestServer.start(ServerSettings.DEFAULT, models);
                TestServer tight = TestServer.start(ServerSettings.DEFAULT.withMemory(bytes(roomy) * 5 / 2), models)) {
            for (String name : List.of("a", "b", "c", "a", "c", "b")) {
                String body = "{\"prompt\":\"hello\",\"temperature\":0,\"model\":\"" + name + "\"}";
                assertThat(TestServer.json(tight.post(PATH, body)).get("choices"))
                        .isEqualTo(TestServer.json(roomy.post(PATH, body)).get("choices"));
            }
            assertThat(loaded(roomy)).isEqualTo(3);
            assertThat(loaded(tight)).isEqualTo(2);
        }
    }

    @Test
    void whileAModelLoadsOthersAnswer() throws InterruptedException, ExecutionException {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch found = new CountDownLatch(1);
        ServedModel slow = new ServedModel(
                "slow",
                () -> {
                    asked.countDown();
                    try {
                        found.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return model;
                },
                TestServer.served("slow", model).settings());
        try (TestServer server =
                TestServer.start(ServerSettings.DEFAULT, TestServer.served(TestServer.MODEL, model), slow)) {
            assertAnswers(server);
            CompletableFuture<Integer> waits = CompletableFuture.supplyAsync(() ->
                    server.post(PATH, "{\"prompt\":\"a\",\"model\":\"slow\"}").statusCode());
            asked.await();
            assertAnswers(server);
            assertThat(server.get("/health").statusCode()).isEqualTo(200);
            assertThat(server.get("/metrics").statusCode()).isEqualTo(200);
            assertThat(waits).isNotDone();
            found.countDown();
            assertThat(waits.get()).isEqualTo(200);
        }
    }

    private static long loaded(TestServer server) {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("transformers_answers_open{"))
                .count();
    }

    private static long bytes(TestServer server) {
        assertThat(server.post(PATH, "{\"prompt\":\"a\",\"model\":\"a\"}").statusCode())
                .isEqualTo(200);
        return server.server.loadedBytes();
    }
}
