package io.github.tornadotransformers.runner.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.StatusLine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Any repository of a hub whose family is implemented has a name: OWNER/NAME, with or without a revision. */
class HubRepositoryTest {
    private static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";
    private static final String FIRST = "/some-owner/some.model/resolve/main/";
    private static final String LATER = "/some-owner/some.model/resolve/" + COMMIT + "/";
    private static final String CONFIG = "config.json";
    private static final String WEIGHTS = "model.safetensors";
    private static final Persistence QUICK =
            new Persistence(Duration.ofSeconds(60), 2, Duration.ofMillis(1), Duration.ofMillis(2));

    @TempDir
    private Path folder;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Path cache;
    private FakeHub hub;

    @BeforeEach
    void startServer() throws IOException {
        hub = new FakeHub();
        cache = folder.resolve("cache");
        environment.put("TRANSFORMERS_CACHE", cache.toString());
        environment.put("HF_HOME", folder.resolve("huggingface").toString());
        environment.put("HF_ENDPOINT", hub.address());
        Path model = SmallModels.llama(folder.resolve("model"));
        for (Path file : list(model)) {
            hub.put(LATER + file.getFileName(), Files.readAllBytes(file));
        }
        hub.put(FIRST + CONFIG, Files.readAllBytes(model.resolve(CONFIG)));
        hub.tellCommit(COMMIT);
    }

    @AfterEach
    void stopServer() {
        hub.close();
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private CommandRun run(String... arguments) {
        return CommandRun.with(environment, "", arguments);
    }

    private Path checkpoint(String name) {
        return new ModelCache(CommandRun.console(environment, "", new ByteArrayOutputStream(), err), QUICK)
                .checkpoint(name);
    }

    @Test
    void aRepositoryIsFetchedAndRun() {
        CommandRun run = run("generate", "-m", "some-owner/some.model", "-n", "3", "--json", "-q", "hello");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        assertThat(run.json().get("model").textValue()).isEqualTo("some-owner/some.model");
        assertThat(cache.resolve("some-owner--some.model").resolve(WEIGHTS)).isRegularFile();
    }

    /** The branch may move while files come, or before the rest of them does. */
    @Test
    void allFilesAreOfTheCommitThatTheFirstWasOf() {
        Path here = checkpoint("some-owner/some.model");
        assertThat(hub.requests().getFirst().path()).isEqualTo(FIRST + CONFIG);
        assertThat(hub.requests().stream().skip(1))
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.path()).startsWith(LATER));
        assertThat(Source.of(here)).contains(new Source("some-owner/some.model", COMMIT, Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource({"v1.0, v1.0", "refs/pr/7, refs%2Fpr%2F7"})
    void aRevisionIsAskedForAndLiesApart(String revision, String spelled) {
        hub.put("/some-owner/some.model/resolve/" + revision + "/" + CONFIG, read(folder.resolve("model/" + CONFIG)));
        Path here = checkpoint("some-owner/some.model@" + revision);
        assertThat(here).isEqualTo(cache.resolve("some-owner--some.model@" + revision.replace("/", "--")));
        assertThat(hub.requests().getFirst().rawPath()).contains("/resolve/" + spelled + "/");
        assertThat(run("models", "--json")
                        .json()
                        .get("cached")
                        .get(0)
                        .get("name")
                        .textValue())
                .isEqualTo("some-owner/some.model@" + revision);
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "../..", "a b", "/x", "a//b", "x/"})
    void whatIsNoRevisionIsAWrongCall(String revision) {
        CommandRun run = run("generate", "-m", "some-owner/some.model@" + revision, "x");
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("\"" + revision + "\" cannot be a revision: expected a branch");
        assertThat(hub.requests()).isEmpty();
    }

    @Test
    void aFamilyThatIsNotImplementedIsRefusedBeforeItsWeightsCome() {
        hub.put(FIRST + CONFIG, "{\"model_type\": \"bert\"}");
        assertThatThrownBy(() -> checkpoint("some-owner/some.model"))
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("some-owner/some.model cannot be run, and its weights were not fetched: ")
                .hasMessageContaining("\"bert\"")
                .hasMessageContaining("qwen3");
        assertThat(hub.requests()).hasSize(1);
        assertThat(cache.resolve("some-owner--some.model")).doesNotExist();
    }

    @Test
    void weightsInOtherFormatsAreNotFetched() {
        hub.remove(LATER + WEIGHTS);
        hub.put(LATER + "pytorch_model.bin", "pickled");
        assertThatThrownBy(() -> checkpoint("some-owner/some.model"))
                .hasMessageContaining("model.safetensors is not in the repository some-owner/some.model at " + COMMIT
                        + ": weights in other formats are not read");
        assertThat(hub.requests()).noneMatch(request -> request.path().endsWith(".bin"));
    }

    @Test
    void aRepositoryThatIsNoneNamesTheNearest() {
        hub.refuse("/openai-comunity/", 401, "X-Error-Code", "RepoNotFound");
        CommandRun run = run("generate", "-m", "openai-comunity/gpt2-xl", "x");
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err())
                .contains("openai-comunity/gpt2-xl is no repository of 127.0.0.1 (HTTP 401), or a private one, which"
                        + " needs HF_TOKEN; did you mean gpt2-xl?");
        assertThat(cache.resolve("openai-comunity--gpt2-xl")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"Qwen/Qwen3-0.6, qwen3-0.6b", "qwen3-06b, qwen3-0.6b", "some-owner/some.modl, some-owner/some.model"})
    void theNearestNameMayBeOneInTheCache(String wrong, String right) {
        checkpoint("some-owner/some.model");
        hub.tellCommit("none");
        assertThat(run("generate", "-m", wrong, "x").err())
                .containsIgnoringCase("did you mean ")
                .containsIgnoringCase(right + "?");
    }

    @Test
    void aRevisionThatIsNoneIsNamed() {
        hub.refuse("/some-owner/some.model/resolve/v9/", 404, "X-Error-Code", "RevisionNotFound");
        assertThatThrownBy(() -> checkpoint("some-owner/some.model@v9"))
                .hasMessageStartingWith(
                        "some-owner/some.model has no revision \"v9\": expected a branch, a tag or a commit of it");
    }

    @Test
    void aGatedRepositorySaysWhereItsLicenceIsAccepted() {
        hub.refuse("/some-owner/", 401, "X-Error-Code", "GatedRepo");
        assertThatThrownBy(() -> checkpoint("some-owner/some.model"))
                .hasMessageStartingWith(
                        "some-owner/some.model is refused without a token (HTTP 401): accept its licence" + " at "
                                + hub.address() + "/some-owner/some.model, make a token there");
    }

    private void shard(int shards) {
        hub.remove(LATER + WEIGHTS);
        StringBuilder map = new StringBuilder();
        for (int i = 0; i < shards; i++) {
            map.append(i == 0 ? "" : ",").append("\"t" + i + "\":\"" + shardName(i, shards) + "\"");
            hub.put(LATER + shardName(i, shards), "weights".repeat(1000 + i));
        }
        hub.put(LATER + "model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
    }

    private static String shardName(int shard, int shards) {
        return "model-" + shard + "-of-" + shards + ".safetensors";
    }

    @Test
    void shardsComeTogether() {
        shard(4);
        hub.sendTogether(4);
        Path here = checkpoint("some-owner/some.model");
        assertThat(here.resolve(shardName(3, 4))).hasContent("weights".repeat(1003));
    }

    /** One line for all: several would write over each other. */
    @Test
    void theTerminalShowsShardsTogether() {
        shard(2);
        hub.stallOnce(LATER + shardName(0, 2), 100);
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        Console plain = CommandRun.console(environment, "", new ByteArrayOutputStream(), err);
        Console watched = new Console(plain.out(), plain.err(), plain.in(), environment, StatusLine.on(terminal));
        Persistence impatient = new Persistence(Duration.ofMillis(1500), 9, Duration.ofMillis(1), Duration.ofMillis(2));
        new ModelCache(watched, impatient).checkpoint("some-owner/some.model");
        assertThat(terminal.toString(StandardCharsets.UTF_8).split("\r"))
                .anyMatch(line -> line.startsWith("some-owner/some.model: "))
                .noneMatch(line -> line.startsWith("model-"));
    }

    @Test
    void aShardThatIsNotThereEndsTheOthersAndTheNextRunContinues() {
        shard(9);
        hub.remove(LATER + shardName(5, 9));
        assertThatThrownBy(() -> checkpoint("some-owner/some.model"))
                .hasMessageContaining(shardName(5, 9) + " is not in the repository some-owner/some.model");
        hub.put(LATER + shardName(5, 9), "weights".repeat(1005));
        assertThat(checkpoint("some-owner/some.model").resolve(shardName(5, 9))).exists();
    }

    @Test
    void shardsThatBreakAreContinued() {
        shard(3);
        for (int i = 0; i < 3; i++) {
            hub.cutAlways(LATER + shardName(i, 3), 2000);
        }
        assertThat(checkpoint("some-owner/some.model").resolve(shardName(2, 3))).hasContent("weights".repeat(1002));
    }

    @Test
    void moreThanTheDiskHoldsIsNotBegun() {
        shard(2);
        hub.put(
                LATER + "model.safetensors.index.json",
                "{\"metadata\":{\"total_size\":9000000000000000000},\"weight_map\":{\"a\":\"" + shardName(0, 2)
                        + "\"}}");
        assertThatThrownBy(() -> checkpoint("some-owner/some.model"))
                .hasMessageContaining("some-owner/some.model needs 9.0 EB, but only ");
        assertThat(hub.requests()).noneMatch(request -> request.path().contains("-of-"));
    }

    @Test
    void oneFileInGgufIsFetchedAlone() {
        hub.put(FIRST + "some-Q8_0.gguf", "gguf");
        Path file = checkpoint("some-owner/some.model:some-Q8_0.gguf");
        assertThat(file).hasContent("gguf").isEqualTo(cache.resolve("some-owner--some.model/some-Q8_0.gguf"));
        assertThat(checkpoint("some-owner/some.model:some-Q8_0.gguf")).isEqualTo(file);
        assertThat(hub.requests()).hasSize(1);
        assertThat(run("models").out()).containsPattern("some-owner/some.model +[0-9]+ bytes  GGUF: some-Q8_0.gguf");
    }

    @Test
    void splitFilesInGgufComeTogether() {
        for (int i = 1; i <= 3; i++) {
            hub.put("/some-owner/some.model/resolve/v1/big-0000" + i + "-of-00003.gguf", "part " + i);
        }
        Path file = checkpoint("some-owner/some.model@v1:big-00001-of-00003.gguf");
        assertThat(file.resolveSibling("big-00003-of-00003.gguf")).hasContent("part 3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none.gguf", "no.bin", "../x.gguf", "a/b.gguf"})
    void aFileInGgufThatIsNone(String file) {
        CommandRun run = run("generate", "-m", "some-owner/some.model:" + file, "x");
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err())
                .containsAnyOf(
                        "none.gguf is not in the repository some-owner/some.model at main",
                        "is neither a folder nor a known name");
        assertThat(cache.resolve("some-owner--some.model")).doesNotExist();
    }

    @Test
    void whatAShortNameMeansIsTheSameByItsRepository() {
        KnownModel known = KnownModel.named("gpt2").orElseThrow();
        SmallModels.gpt2(cache.resolve("gpt2"));
        assertThat(checkpoint("openai-community/gpt2")).isEqualTo(cache.resolve("gpt2"));
        assertThat(checkpoint("openai-community/gpt2@" + known.revision())).isEqualTo(cache.resolve("gpt2"));
        assertThatThrownBy(() -> checkpoint("gpt2@main"))
                .hasMessageStartingWith("config.json is not in the repository openai-community/gpt2 at main");
    }

    @Test
    void shortNamesArePinned() {
        assertThat(KnownModel.all()).allSatisfy(model -> {
            assertThat(Source.isCommit(model.revision())).isTrue();
            assertThat(HubModel.parse(model.repository()).orElseThrow().known()).contains(model);
            assertThat(model.bytes()).isPositive();
        });
    }

    @Test
    void aFolderHereComesBeforeTheHub() throws IOException {
        String name = folder.resolve("owner/here").toString();
        SmallModels.gpt2(Files.createDirectories(folder.resolve("owner")).resolve("here"));
        assertThat(checkpoint(name)).isEqualTo(Path.of(name));
    }

    @Test
    void whatIsSaidOfAFetch() {
        checkpoint("some-owner/some.model");
        assertThat(err.toString(StandardCharsets.UTF_8).lines().findFirst())
                .contains("fetching some-owner/some.model at main into " + cache.resolve("some-owner--some.model"));
    }
}
