package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that others wrote find what they expect. Each is a program in {@code src/test/clients}, which says what it found, a JSON
 * object in a line each, and waits for its input to end while the server is looked at.
 */
@Timeout(600)
class ClientsTest {
    private static final Path CLIENTS = Path.of("src", "test", "clients").toAbsolutePath();
    private static final String CHAT = "/v1/chat/completions";
    private static final String HELLO =
            "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"seed\":11,"
                    + "\"temperature\":0.8,\"max_tokens\":20}";
    private static final Pattern NO_REGISTRY = Pattern.compile("ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|E403|E404"
            + "|Could not transfer|Could not find artifact|Unknown host|offline mode|Connection refused|timed out");
    private static final int PATIENCE_SECONDS = 300;

    @TempDir
    private static Path folder;

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start(
                ServerSettings.DEFAULT,
                TestServer.served(TestServer.MODEL, TestServer.model(folder.resolve("small"), 5)),
                TestServer.endless(folder.resolve("endless")));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void curl() throws IOException, InterruptedException {
        assumeTrue(Run.of(folder, "curl", "--version").succeeded(), "curl is not there");
        String address = server.address() + CHAT;
        Run whole = Run.of(folder, "curl", "-s", address, "-d", HELLO);
        assertThat(content(TestServer.json(whole.out).get("choices").get(0).get("message")))
                .isEqualTo(expected().get("chat").textValue());
        Run streamed = Run.of(folder, "curl", "-sN", address, "-d", with("stream", "true"));
        StringBuilder text = new StringBuilder();
        TestServer.events(streamed.out)
                .forEach(
                        event -> text.append(content(event.get("choices").get(0).get("delta"))));
        assertThat(text.toString()).isEqualTo(expected().get("chat").textValue());
        Run refused = Run.of(folder, "curl", "-s", "-w", "\n%{http_code}", address, "-d", with("model", "\"nothing\""));
        assertThat(refused.out).endsWith("\n404").contains("there is no model nothing here");
        Process cut = new ProcessBuilder(
                        "curl",
                        "-sN",
                        address,
                        "-d",
                        "{\"model\":\"endless\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],"
                                + "\"temperature\":0,\"stream\":true}")
                .start();
        assertThat(cut.inputReader(StandardCharsets.UTF_8).readLine()).startsWith("data: {");
        cut.destroyForcibly();
        assertTheCutAnswerIsGone();
    }

    @Test
    void openaiOfPython() throws IOException, InterruptedException {
        String python = System.getProperty("python", "python3");
        assumeTrue(
                Run.of(folder, python, "-c", "import openai").succeeded(),
                python + " is not there, or has no openai (-Dpython=…)");
        check(python, CLIENTS.resolve("openai_client.py").toString());
    }

    @Test
    void openaiOfNpm() throws IOException, InterruptedException {
        check("node", npm().resolve("openai.js").toString());
    }

    @Test
    void aiOfNpm() throws IOException, InterruptedException {
        check("node", npm().resolve("ai.js").toString());
    }

    @Test
    void langChain4j() throws IOException, InterruptedException {
        checkJava("clients.LangChain4jClient");
    }

    @Test
    void springAi() throws IOException, InterruptedException {
        checkJava("clients.SpringAiClient");
    }

    /** Where the clients are, and all that they need. */
    private static synchronized Path npm() throws IOException, InterruptedException {
        Path copy = copy("npm");
        if (!Files.exists(copy.resolve("node_modules"))) {
            assumeTrue(
                    Run.of(folder, "node", "--version").succeeded()
                            && Run.of(folder, "npm", "--version").succeeded(),
                    "Node.js or npm is not there");
            install(copy, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=dev");
        }
        return copy;
    }

    private static synchronized Path java() throws IOException, InterruptedException {
        Path copy = copy("java");
        if (!Files.exists(copy.resolve("target").resolve("lib"))) {
            String home = System.getProperty("maven.home", "");
            assumeTrue(!home.isEmpty(), "Maven is not there: this test was not started by it");
            install(
                    copy,
                    Path.of(home, "bin", "mvn").toString(),
                    "-B",
                    "-q",
                    "-ntp",
                    "-Dmaven.repo.local=" + System.getProperty("local.repository"),
                    "compile");
        }
        return copy.resolve("target");
    }

    private static Path copy(String name) throws IOException {
        Path to = folder.resolve(name);
        if (!Files.exists(to)) {
            try (Stream<Path> files = Files.walk(CLIENTS.resolve(name))) {
                for (Path file : files.toList()) {
                    Files.copy(file, to.resolve(CLIENTS.resolve(name).relativize(file)));
                }
            }
        }
        return to;
    }

    private static void install(Path in, String... command) throws IOException, InterruptedException {
        Run run = Run.of(in, command);
        if (!run.succeeded() && NO_REGISTRY.matcher(run.out).find()) {
            abort(command[0] + " needs its registry: "
                    + run.out.lines().filter(line -> line.contains("ERR")).findFirst());
        }
        assertThat(run.exitCode).as(run.out).isZero();
    }

    private static void checkJava(String main) throws IOException, InterruptedException {
        Path built = java();
        check(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                built.resolve("classes")
                        + File.pathSeparator
                        + built.resolve("lib").resolve("*"),
                main);
    }

    /** Runs a client and looks at what it says, and at the server when its stream is cut. */
    private static void check(String... command) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(command));
        all.add(server.address().toString());
        Path errors = Files.createTempFile(folder, "client", ".err");
        Process client = new ProcessBuilder(all).redirectError(errors.toFile()).start();
        CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS).execute(client::destroyForcibly);
        try {
            ObjectNode facts = TestServer.JSON.createObjectNode();
            BufferedReader said = client.inputReader(StandardCharsets.UTF_8);
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.startsWith("{")) {
                    facts.setAll((ObjectNode) TestServer.json(line));
                }
                if (facts.has("cancelled")) {
                    break;
                }
            }
            String report = facts + Files.readString(errors);
            assertThat(facts.path("cancelled").asBoolean()).as(report).isTrue();
            assertThat(client.isAlive()).as(report).isTrue();
            assertTheCutAnswerIsGone();
            assertThat(facts.path("unknown").asText()).as(report).contains("there is no model nothing here");
            assertThat(facts.path("wrong").asText()).as(report).contains("temperature");
            facts.remove(List.of("cancelled", "unknown", "wrong"));
            assertThat(facts).as(report).isEqualTo(expected());
            client.outputWriter().close();
            assertThat(client.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(client.exitValue()).as(Files.readString(errors)).isZero();
        } finally {
            client.destroyForcibly();
        }
    }

    /** What our own client is answered. */
    private static ObjectNode expected() {
        JsonNode answer = TestServer.json(server.post(CHAT, HELLO));
        String text = content(answer.get("choices").get(0).get("message"));
        ObjectNode facts = TestServer.JSON.createObjectNode();
        return facts.put("chat", text)
                .put("stream", text)
                .put("tokens", answer.get("usage").get("completion_tokens").intValue());
    }

    private static String content(JsonNode message) {
        return message.path("content").asText();
    }

    private static String with(String field, String value) {
        ObjectNode request = (ObjectNode) TestServer.json(HELLO);
        request.set(field, TestServer.json(value));
        return request.toString();
    }

    /** And what is gone has not come to its end by itself, which would be counted. */
    private static void assertTheCutAnswerIsGone() throws InterruptedException {
        StormTest.await(() -> server.server.open() == 0);
        StormTest.await(
                () -> server.get("/metrics").body().contains("transformers_answers_open{model=\"endless\"} 0.0"));
        assertThat(server.get("/metrics").body())
                .contains("transformers_answers_total{end=\"cancelled\",model=\"endless\"}")
                .doesNotContain("transformers_answers_total{end=\"length\",model=\"endless\"}")
                .doesNotContain("transformers_answers_total{end=\"context\",model=\"endless\"}");
    }

    /** A program that has ended. */
    private record Run(int exitCode, String out) {
        /** With nothing to read; where it cannot be started, its exit code is 127. */
        static Run of(Path in, String... command) throws IOException, InterruptedException {
            Path out = Files.createTempFile(folder, "run", ".out");
            Process process;
            try {
                process = new ProcessBuilder(command)
                        .directory(in.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
            } catch (IOException e) {
                return new Run(127, e.getMessage());
            }
            process.outputWriter().close();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return new Run(124, "timed out: " + Files.readString(out));
            }
            return new Run(process.exitValue(), Files.readString(out));
        }

        boolean succeeded() {
            return exitCode == 0;
        }
    }
}
