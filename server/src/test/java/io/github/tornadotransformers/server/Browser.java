package io.github.tornadotransformers.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One tab of a headless Chromium, which is clicked and typed at as by a person.
 *
 * <p>Source: <a href="https://chromedevtools.github.io/devtools-protocol/">the DevTools protocol</a>.
 */
final class Browser implements AutoCloseable {
    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");
    private static final Pattern LISTENING = Pattern.compile("DevTools listening on ws://([^/]+)/");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int POLL_MILLIS = 20;
    private static final int SHIFT = 8;

    private final Process process;
    private final HttpClient client;
    private final WebSocket socket;
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();

    private Browser(Process process, HttpClient client, URI tab) {
        this.process = process;
        this.client = client;
        socket = client.newWebSocketBuilder().buildAsync(tab, new Listener()).join();
    }

    /** Starts one, or skips the test where there is none. */
    static Browser start(Path profile) throws IOException {
        Optional<Path> program = program();
        assumeTrue(program.isPresent(), "no Chromium on the PATH: apt-get install chromium");
        Process process = new ProcessBuilder(
                        program.get().toString(),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-background-networking",
                        "--no-first-run",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        HttpClient client = HttpClient.newHttpClient();
        try {
            return new Browser(process, client, tab(client, address(process)));
        } catch (IOException | RuntimeException e) {
            end(process);
            client.close();
            throw e;
        }
    }

    private static Optional<Path> program() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static String address(Process process) throws IOException {
        BufferedReader said = process.errorReader(StandardCharsets.UTF_8);
        StringBuilder all = new StringBuilder();
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                Thread.startVirtualThread(() -> said.lines().forEach(_ -> {}));
                return matcher.group(1);
            }
            all.append(line).append('\n');
        }
        throw new IOException("Chromium did not start: " + all);
    }

    private static URI tab(HttpClient client, String address) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/json/list"))
                .build();
        try {
            String list =
                    client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            for (JsonNode each : TestServer.json(list)) {
                if (each.get("type").textValue().equals("page")) {
                    return URI.create(each.get("webSocketDebuggerUrl").textValue());
                }
            }
            throw new IOException("Chromium has no tab: " + list);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** With all its helpers, which would still write to the profile. */
    private static void end(Process process) {
        List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList();
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(each -> each.onExit().join());
    }

    /** @throws AssertionError if the browser says that it is an error */
    JsonNode command(String method, Map<String, ?> parameters) {
        int id = ids.incrementAndGet();
        CompletableFuture<JsonNode> reply = new CompletableFuture<>();
        pending.put(id, reply);
        ObjectNode message = TestServer.JSON.createObjectNode().put("id", id).put("method", method);
        message.set("params", TestServer.JSON.valueToTree(parameters));
        socket.sendText(message.toString(), true).join();
        try {
            JsonNode answer = reply.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (answer.has("error")) {
                throw new AssertionError(method + ": " + answer.get("error"));
            }
            return answer.get("result");
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(method + ": " + e, e);
        }
    }

    /** Opens a page, and waits until it is there. */
    void open(URI address) {
        command("Page.enable", Map.of());
        command("Page.navigate", Map.of("url", address.toString()));
        await("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /** What JavaScript makes of it. */
    JsonNode value(String expression) {
        JsonNode result = command(
                "Runtime.evaluate", Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
        if (result.has("exceptionDetails")) {
            throw new AssertionError(expression + ": " + result.get("exceptionDetails"));
        }
        return result.get("result").path("value");
    }

    String text(String selector) {
        return value("document.querySelector(" + quoted(selector) + ").textContent")
                .textValue();
    }

    private static String quoted(String text) {
        return TestServer.JSON.getNodeFactory().textNode(text).toString();
    }

    /** Until it is true. */
    void await(String condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!value("!!(" + condition + ")").booleanValue()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        condition + " did not become true; the page says: " + value("document.body.innerText"));
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** With the mouse, in the middle of what the selector finds first. */
    void click(String selector) {
        JsonNode place = value("(() => { const e = document.querySelector(" + quoted(selector) + ");"
                + " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                + " return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()");
        for (String type : List.of("mousePressed", "mouseReleased")) {
            command(
                    "Input.dispatchMouseEvent",
                    Map.of(
                            "type",
                            type,
                            "x",
                            place.get("x").doubleValue(),
                            "y",
                            place.get("y").doubleValue(),
                            "button",
                            "left",
                            "clickCount",
                            1));
        }
    }

    /** Into what has the focus. */
    void type(String text) {
        command("Input.insertText", Map.of("text", text));
    }

    void press(Key key) {
        press(key, 0);
    }

    void pressWithShift(Key key) {
        press(key, SHIFT);
    }

    private void press(Key key, int modifiers) {
        command(
                "Input.dispatchKeyEvent",
                Map.of(
                        "type",
                        "keyDown",
                        "key",
                        key.name,
                        "code",
                        key.code,
                        "windowsVirtualKeyCode",
                        key.number,
                        "text",
                        key.text,
                        "modifiers",
                        modifiers));
        command(
                "Input.dispatchKeyEvent",
                Map.of(
                        "type",
                        "keyUp",
                        "key",
                        key.name,
                        "code",
                        key.code,
                        "windowsVirtualKeyCode",
                        key.number,
                        "modifiers",
                        modifiers));
    }

    /** Of a screen. */
    void show(int width, int height, boolean dark) {
        command(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        command(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    void screenshot(Path file) {
        String png = command("Page.captureScreenshot", Map.of()).get("data").textValue();
        try {
            Files.write(file, Base64.getDecoder().decode(png));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        socket.abort();
        end(process);
        client.close();
    }

    /** Of a keyboard. */
    enum Key {
        TAB("Tab", "Tab", 9, ""),
        ENTER("Enter", "Enter", 13, "\r"),
        ESCAPE("Escape", "Escape", 27, ""),
        SPACE(" ", "Space", 32, " ");

        private final String name;
        private final String code;
        private final int number;
        private final String text;

        Key(String name, String code, int number, String text) {
            this.name = name;
            this.code = code;
            this.number = number;
            this.text = text;
        }
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder message = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            message.append(data);
            if (last) {
                JsonNode json = TestServer.json(message.toString());
                message.setLength(0);
                Optional.ofNullable(pending.remove(json.path("id").asInt())).ifPresent(reply -> reply.complete(json));
            }
            from.request(1);
            return null;
        }
    }
}
