package io.github.tornadotransformers.runner.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code TRANSFORMERS_CACHE} may be the folder in which Hugging Face's own libraries keep their models. */
class HubCacheTest {
    private static final String VERSION = "0123456789abcdef0123456789abcdef01234567";

    @TempDir
    private Path cache;

    @BeforeEach
    void writeCache() throws IOException {
        Path model = put("models--owner--some-model");
        Files.createDirectories(cache.resolve("datasets--owner--data/snapshots/1"));
        Files.createDirectories(cache.resolve(".locks"));
        Files.writeString(cache.resolve("version.txt"), "1");
        assertThat(model).isDirectory();
    }

    /** A model as the hub's client leaves it: files in blobs, named by links. */
    private Path put(String folder) throws IOException {
        Path repository = cache.resolve(folder);
        Path snapshot = Files.createDirectories(repository.resolve("snapshots").resolve(VERSION));
        Path blobs = Files.createDirectories(repository.resolve("blobs"));
        Files.writeString(Files.createDirectories(repository.resolve("refs")).resolve("main"), VERSION);
        Path files = SmallModels.gpt2(cache.resolve(".files-" + folder));
        for (Path file : list(files)) {
            Path blob = Files.move(file, blobs.resolve("blob-" + file.getFileName()));
            Files.createSymbolicLink(snapshot.resolve(file.getFileName()), snapshot.relativize(blob));
        }
        return snapshot;
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private CommandRun run(String... arguments) {
        return CommandRun.with(
                Map.of(
                        "TRANSFORMERS_CACHE",
                        cache.toString(),
                        "HF_HOME",
                        cache.resolve("none").toString(),
                        "HF_ENDPOINT",
                        "http://127.0.0.1:1"),
                "",
                arguments);
    }

    @Test
    void modelsAreListedByTheirNames() {
        JsonNode cached = run("models", "--json").json().get("cached");
        assertThat(cached).hasSize(1);
        assertThat(cached.get(0).get("name").asText()).isEqualTo("owner/some-model");
        assertThat(cached.get(0).get("complete").asBoolean()).isTrue();
        assertThat(cached.get(0).get("model_type").asText()).isEqualTo("gpt2");
        assertThat(cached.get(0).get("bytes").asLong()).isGreaterThan(1000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"owner/some-model", "models--owner--some-model"})
    void modelsAreFoundByTheirNames(String name) {
        assertThat(run("gpt2", "-m", name, "-n", "1", "-q", "hello").exitCode()).isEqualTo(ExitCode.OK);
    }

    @Test
    void aKnownModelIsNotFetchedAgain() throws IOException {
        put("models--distilbert--distilgpt2");
        CommandRun run = run("gpt2", "-m", "distilgpt2", "-n", "1", "-q", "hello");
        assertThat(run).returns(ExitCode.OK, CommandRun::exitCode).returns("", CommandRun::err);
    }

    @Test
    void theOnlyVersionNeedsNoReference() throws IOException {
        Files.delete(cache.resolve("models--owner--some-model/refs/main"));
        assertThat(new HubCache(cache).model("owner/some-model").orElseThrow()).endsWithRaw(Path.of(VERSION));
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", "../../../x", "/etc", "none"})
    void aReferenceThatLeavesTheFolderIsNotFollowed(String reference) throws IOException {
        Files.createDirectories(cache.resolve("models--owner--some-model/snapshots/2"));
        Files.writeString(cache.resolve("models--owner--some-model/refs/main"), reference);
        assertThat(new HubCache(cache).model("owner/some-model")).isEmpty();
    }

    @Test
    void whatIsFetchedGoesIntoAFolderOfOurs() {
        assertThat(run("gpt2", "-m", "gpt2", "x").err())
                .contains("into " + cache.resolve("tornado-transformers").resolve("gpt2"));
    }

    @Test
    void whatWasFetchedBeforeIsStillFound() throws IOException {
        SmallModels.gpt2(cache.resolve("mine"));
        SmallModels.gpt2(cache.resolve("tornado-transformers/gpt2"));
        assertThat(run("gpt2", "-m", "mine", "-n", "1", "-q", "hello").exitCode())
                .isEqualTo(ExitCode.OK);
        assertThat(run("gpt2", "-m", "gpt2", "-n", "1", "-q", "hello").exitCode())
                .isEqualTo(ExitCode.OK);
        assertThat(run("models", "--json").json().get("cached").findValuesAsText("name"))
                .containsExactly("mine", "gpt2", "owner/some-model");
    }

    private CommandRun runWith(String variable, Path value, String... arguments) {
        return CommandRun.with(
                Map.of(
                        variable,
                        value.toString(),
                        "TRANSFORMERS_CACHE",
                        cache.resolve("ours").toString(),
                        "HF_ENDPOINT",
                        "http://127.0.0.1:1"),
                "",
                arguments);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"})
    void theCacheIsFoundAsHuggingFacesLibrariesFindIt(String variable) throws IOException {
        Path place = Files.createDirectories(cache.resolve("place/huggingface"));
        Path named = switch (variable) {
            case "HF_HOME" ->
                Files.createSymbolicLink(place.resolve("hub"), cache).getParent();
            case "XDG_CACHE_HOME" ->
                Files.createSymbolicLink(place.resolve("hub"), cache)
                        .getParent()
                        .getParent();
            default -> cache;
        };
        CommandRun run = runWith(variable, named, "gpt2", "-m", "owner/some-model", "-n", "1", "-q", "hello");
        assertThat(run).returns(ExitCode.OK, CommandRun::exitCode).returns("", CommandRun::err);
        assertThat(cache.resolve("ours")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {VERSION, "main", "v1.0", "refs/pr/3"})
    void aRevisionIsFoundByCommitAndByName(String revision) throws IOException {
        Path refs = cache.resolve("models--owner--some-model/refs");
        Files.writeString(refs.resolve("v1.0"), VERSION);
        Files.writeString(Files.createDirectories(refs.resolve("refs/pr")).resolve("3"), VERSION + "\n");
        assertThat(run("gpt2", "-m", "owner/some-model@" + revision, "-n", "1", "-q", "x")
                        .exitCode())
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void anotherRevisionIsNotTakenForTheWantedOne() {
        assertThat(run("gpt2", "-m", "owner/some-model@v2", "x").err()).contains("cannot be reached");
    }

    @Test
    void gpt2MayHaveBeenFetchedBeforeItHadAnOwner() throws IOException {
        put("models--gpt2");
        assertThat(run("gpt2", "-m", "gpt2", "-n", "1", "-q", "x").exitCode()).isEqualTo(ExitCode.OK);
    }

    /** Also before Hugging Face's libraries have put anything there. */
    @ParameterizedTest
    @ValueSource(strings = {"", "hub"})
    void whatIsOursLiesApartInHuggingFacesFolders(String within) {
        Path home = cache.resolve("fresh");
        CommandRun run = CommandRun.with(
                Map.of(
                        "HF_HOME",
                        home.toString(),
                        "TRANSFORMERS_CACHE",
                        home.resolve(within).toString(),
                        "HF_ENDPOINT",
                        "http://127.0.0.1:1"),
                "",
                "gpt2",
                "-m",
                "owner/unknown",
                "x");
        assertThat(run.err()).contains(" into " + home.resolve(within).resolve("tornado-transformers/owner--unknown"));
        assertThat(list(home.resolve(within)))
                .containsExactly(home.resolve(within).resolve("tornado-transformers"));
    }
}
