package io.github.tornadotransformers.runner.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Downloads from a server in this JVM. */
class ModelCacheTest {
    private static final String REPOSITORY = "/openai-community/gpt2/resolve/main/";

    @TempDir
    private Path cache;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private FakeHub hub;

    @BeforeEach
    void startServer() throws IOException {
        hub = new FakeHub();
        environment.put("TRANSFORMERS_CACHE", cache.toString());
        environment.put("HF_ENDPOINT", hub.address());
        hub.put(REPOSITORY + "config.json", "{}");
        hub.put(REPOSITORY + "tokenizer.json", "{\"t\":1}");
        hub.put(REPOSITORY + "model.safetensors", "weights".repeat(50_000));
    }

    @AfterEach
    void stopServer() {
        hub.close();
    }

    @Test
    void fetchesWhatTheRepositoryHas() throws IOException {
        Path folder = checkpoint();
        assertThat(folder).isEqualTo(cache.resolve("gpt2"));
        assertThat(visibleFiles(folder)).containsExactly("config.json", "model.safetensors", "tokenizer.json");
        assertThat(folder.resolve("model.safetensors")).hasContent("weights".repeat(50_000));
    }

    @Test
    void fetchesOnce() {
        checkpoint();
        int requests = hub.requests().size();
        checkpoint();
        assertThat(hub.requests()).hasSize(requests);
    }

    @Test
    void fetchesOnlyTheTokenizerWhereThatIsEnough() throws IOException {
        Path folder = new ModelCache(console()).tokenizer("gpt2");
        assertThat(visibleFiles(folder)).containsExactly("config.json", "tokenizer.json");
    }

    @Test
    void fetchesVocabularyAndMergesWhereThereIsNoTokenizerJson() throws IOException {
        hub.remove(REPOSITORY + "tokenizer.json");
        hub.put(REPOSITORY + "vocab.json", "{}");
        hub.put(REPOSITORY + "merges.txt", "");
        assertThat(visibleFiles(checkpoint())).contains("vocab.json", "merges.txt");
    }

    @Test
    void fetchesTheShardsThatTheIndexNames() throws IOException {
        hub.remove(REPOSITORY + "model.safetensors");
        hub.put(
                REPOSITORY + "model.safetensors.index.json",
                "{\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\"}}");
        hub.put(REPOSITORY + "m-1.safetensors", "one");
        hub.put(REPOSITORY + "m-2.safetensors", "two");
        assertThat(visibleFiles(checkpoint())).contains("m-1.safetensors", "m-2.safetensors");
    }

    @Test
    void refusesAnIndexThatNamesAPath() {
        hub.put(REPOSITORY + "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"../../x.safetensors\"}}");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("names \"../../x.safetensors\", expected the name of a safetensors file");
    }

    @Test
    void fetchesWhatAnInterruptedAttemptLeftOut() throws IOException {
        Path folder = Files.createDirectory(cache.resolve("gpt2"));
        Files.writeString(folder.resolve("config.json"), "{\"by\":\"hand\"}");
        checkpoint();
        assertThat(folder.resolve("config.json")).hasContent("{\"by\":\"hand\"}");
        assertThat(folder.resolve("model.safetensors")).exists();
    }

    @Test
    void missingFileIsNamed() {
        hub.remove(REPOSITORY + "config.json");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("config.json is not in the repository openai-community/gpt2");
    }

    @Test
    void refusalWithoutTokenSaysHowToGetOne() {
        hub.answerAllWith(401);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("gpt2 is refused without a token (HTTP 401)")
                .hasMessageContaining("set HF_TOKEN to it");
    }

    @Test
    void refusalWithTokenSaysWhoseItIs() {
        environment.put("HF_TOKEN", "secret");
        hub.answerAllWith(403);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("gpt2 is refused with the token in HF_TOKEN (HTTP 403)")
                .hasMessageNotContaining("secret");
    }

    @Test
    void tokenGoesToTheHubAndToNoOtherHost() {
        environment.put("HF_TOKEN", "secret");
        hub.redirectToOtherHost(REPOSITORY + "model.safetensors");
        checkpoint();
        assertThat(hub.requests())
                .filteredOn(request -> request.path().startsWith(REPOSITORY))
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.authorization()).isEqualTo("Bearer secret"));
        assertThat(hub.requests())
                .filteredOn(request -> request.path().startsWith("/elsewhere"))
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.authorization()).isNull());
    }

    @Test
    void brokenConnectionIsContinuedWhereItBroke() {
        hub.cutOnce(REPOSITORY + "model.safetensors", 100_000);
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("weights".repeat(50_000));
        assertThat(hub.requests())
                .filteredOn(request -> request.path().endsWith("model.safetensors"))
                .extracting(FakeHub.Request::range)
                .containsExactly(null, "bytes=100000-");
    }

    @Test
    void connectionThatStallsIsContinued() {
        hub.stallOnce(REPOSITORY + "model.safetensors", 100_000);
        Console console = console();
        KnownModel model = KnownModel.named("gpt2").orElseThrow();
        Duration patience = Duration.ofMillis(200);
        assertThat(new Download(new Hub(console), console, model, cache, "model.safetensors", patience).run())
                .isTrue();
        assertThat(cache.resolve("model.safetensors")).hasContent("weights".repeat(50_000));
    }

    @Test
    void connectionThatAlwaysBreaksLeavesAPartThatTheNextRunContinues() throws IOException {
        hub.cutAlways(REPOSITORY + "model.safetensors", 50_000);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("model.safetensors of gpt2 did not come whole in 4 attempts")
                .hasMessageContaining("run the command again, and it continues where it stopped");
        assertThat(cache.resolve("gpt2/model.safetensors")).doesNotExist();
        hub.cutAlways(REPOSITORY + "model.safetensors", Integer.MAX_VALUE);
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("weights".repeat(50_000));
        assertThat(hub.requests().getLast().range()).isEqualTo("bytes=200000-");
        assertThat(allFiles(cache.resolve("gpt2"))).noneMatch(name -> name.endsWith(".part"));
    }

    @Test
    void partOfAnotherVersionIsThrownAway() throws IOException {
        hub.cutAlways(REPOSITORY + "model.safetensors", 50_000);
        assertThatThrownBy(this::checkpoint).isInstanceOf(Failure.class);
        hub.cutAlways(REPOSITORY + "model.safetensors", Integer.MAX_VALUE);
        hub.put(REPOSITORY + "model.safetensors", "another".repeat(50_000));
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("another".repeat(50_000));
        assertThat(allFiles(cache.resolve("gpt2"))).noneMatch(name -> name.endsWith(".part"));
    }

    @Test
    void wrongChecksumIsThrownAway() throws IOException {
        hub.corrupt(REPOSITORY + "model.safetensors");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("model.safetensors of gpt2 came with a wrong SHA-256 checksum, expected ");
        assertThat(allFiles(cache.resolve("gpt2"))).noneMatch(name -> name.contains("model.safetensors"));
    }

    @Test
    void unreachableHubSaysWhatToDoWithoutIt() {
        environment.put("HF_ENDPOINT", "http://127.0.0.1:1");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageMatching(
                        "http://127\\.0\\.0\\.1:1 cannot be reached \\(.*\\); a checkpoint that is here already can be"
                                + " given as -m FOLDER, or its files be placed in .*gpt2");
    }

    @Test
    void serverErrorIsTriedAgain() {
        hub.failOnce(REPOSITORY + "config.json");
        assertThat(checkpoint().resolve("config.json")).exists();
    }

    @Test
    void progressGoesToStderr() {
        checkpoint();
        assertThat(err.toString(StandardCharsets.UTF_8).lines())
                .anyMatch(line -> line.matches("model\\.safetensors +0\\.4 of 0\\.4 MB, [0-9.]+ MB/s"));
    }

    private Path checkpoint() {
        return new ModelCache(console()).checkpoint("gpt2");
    }

    private Console console() {
        return CommandRun.console(environment, "", new ByteArrayOutputStream(), err);
    }

    private static Stream<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList().stream();
        }
    }

    private static Stream<String> visibleFiles(Path folder) throws IOException {
        return names(folder).filter(name -> !name.startsWith("."));
    }

    private static Stream<String> allFiles(Path folder) throws IOException {
        return names(folder);
    }
}
