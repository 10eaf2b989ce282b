package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code models pull, show, rm} and {@code make}; fetching has tests of its own. */
class ModelsCommandTest {
    private static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";

    @TempDir
    private Path folder;

    private final Map<String, String> environment = new HashMap<>();
    private Path cache;
    private Path ofOthers;

    @BeforeEach
    void fillCaches() throws IOException {
        cache = folder.resolve("cache");
        SmallModels.llama(cache.resolve("some-owner--some.model"));
        Files.writeString(
                cache.resolve("some-owner--some.model/.source.json"),
                "{\"repository\":\"some-owner/some.model\",\"revision\":\"" + COMMIT + "\"}");
        SmallModels.gpt2(cache.resolve("mine"));
        ofOthers = folder.resolve("huggingface/hub/models--other--model/snapshots/" + COMMIT);
        Files.createDirectories(ofOthers.getParent());
        SmallModels.gpt2(ofOthers);
        environment.put("TRANSFORMERS_CACHE", cache.toString());
        environment.put("HF_HOME", folder.resolve("huggingface").toString());
        environment.put("HF_ENDPOINT", "http://127.0.0.1:1");
    }

    private CommandRun run(String... arguments) {
        return CommandRun.with(environment, "", arguments);
    }

    private static List<String> names(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theListTellsWhatIsWhereAndFromWhere() {
        String text = run("models").out();
        assertThat(text)
                .contains("In the cache, " + cache + ":\n  mine ")
                .containsPattern(
                        "some-owner/some.model +[0-9.]+ kB  llama, f32, some-owner/some.model at 0123456789ab\n")
                .contains("In the cache of Hugging Face's libraries, " + folder.resolve("huggingface/hub"))
                .containsPattern("other/model +[0-9.]+ kB  gpt2, f32, other/model at 0123456789ab\n")
                .containsPattern("gpt2 +548.1 MB  gpt2 +openai-community/gpt2 at 607a30d783df: GPT-2, 124M parameters");
        JsonNode cached = run("models", "--json").json().get("cached");
        assertThat(cached.findValuesAsText("name")).containsExactly("mine", "some-owner/some.model", "other/model");
        assertThat(cached.get(1).get("revision").textValue()).isEqualTo(COMMIT);
        assertThat(cached.get(0).get("repository").isNull()).isTrue();
        assertThat(cached.get(2).get("ours").booleanValue()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"some-owner/some.model, some-owner--some.model", "mine, mine"})
    void pullPrintsTheFolder(String name, String placed) {
        assertThat(run("models", "pull", name))
                .returns(ExitCode.OK, CommandRun::exitCode)
                .returns(cache.resolve(placed) + "\n", CommandRun::out);
    }

    @Test
    void showsWhatAModelIs() {
        CommandRun run = run("models", "show", "some-owner/some.model");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        assertThat(run.out())
                .contains(
                        "repository  some-owner/some.model\n",
                        "revision    " + COMMIT + "\n",
                        "family      llama, f32\n")
                .contains("2 layers, hidden 32, MLP 48, 4 heads of 8 (2 of keys and values)")
                .containsPattern("file +model.safetensors, [0-9.]+ kB")
                .doesNotContain(".source.json");
        JsonNode json = run("models", "show", "other/model", "--json").json();
        assertThat(json.get("hidden_size").intValue()).isEqualTo(24);
        assertThat(json.get("path").textValue()).isEqualTo(ofOthers.toString());
        assertThat(run("models", "show", cache.resolve("mine").toString()).out())
                .contains("family      gpt2, f32");
    }

    @ParameterizedTest
    @CsvSource({
        "qwen3-0.6b, qwen3-0.6b is not here: `transformers models pull qwen3-0.6b` fetches Qwen/Qwen3-0.6B at c1899de2",
        "nobody/none, `transformers models pull nobody/none` fetches nobody/none at main",
        "mime, '\"mime\" is neither a folder nor a model''s name; did you mean mine?'"
    })
    void showsWhereAModelCouldBeHad(String name, String message) {
        CommandRun run = run("models", "show", name);
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err()).contains(message);
    }

    @ParameterizedTest
    @CsvSource({
        "some-owner/some.model, some-owner--some.model",
        "some-owner--some.model, some-owner--some.model",
        "mine, mine"
    })
    void aModelIsDeletedWhereTheUserAgrees(String name, String placed) {
        assertThat(CommandRun.with(environment, "n\n", "models", "rm", name))
                .returns(ExitCode.FAILURE, CommandRun::exitCode)
                .satisfies(run -> assertThat(run.err())
                        .contains("delete " + cache.resolve(placed) + " (")
                        .endsWith(" was not deleted\n"));
        assertThat(cache.resolve(placed)).isDirectory();
        assertThat(CommandRun.with(environment, "Y\n", "models", "rm", name).exitCode())
                .isEqualTo(ExitCode.OK);
        assertThat(names(cache)).contains(".locks").doesNotContain(placed).hasSize(2);
    }

    @Test
    void whereNobodyAnswersYesMustBeSaid() {
        assertThat(run("models", "rm", "mine"))
                .returns(ExitCode.USAGE, CommandRun::exitCode)
                .satisfies(run -> assertThat(run.err()).contains("nobody answers: --yes deletes without asking"));
        assertThat(cache.resolve("mine")).isDirectory();
        assertThat(run("models", "rm", "--yes", "mine", "some-owner/some.model").exitCode())
                .isEqualTo(ExitCode.OK);
        assertThat(names(cache)).containsExactly(".locks");
    }

    @ParameterizedTest
    @CsvSource({
        "other/model, 'other/model is in the cache of Hugging Face''s libraries, '",
        "models--other--model, which is not ours to delete from",
        "shakespeare-gpt2, is not in the cache",
        "nobody/none, '\"nobody/none\" is not in the cache '",
        ".., .. is a folder of yours",
        ".locks, '\".locks\" is not in the cache '",
        "../cache/mine, '\"../cache/mine\" is not in the cache '",
        "mine/../mine, '\"mine/../mine\" is not in the cache '"
    })
    void nothingElseIsDeleted(String name, String message) {
        CommandRun run = run("models", "rm", "--yes", name);
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err()).contains(message);
        assertThat(names(cache)).containsExactly("mine", "some-owner--some.model");
        assertThat(ofOthers.resolve("config.json")).exists();
    }

    /** Where the variable names a folder of Hugging Face's, what is theirs lies beside what is ours. */
    @ParameterizedTest
    @CsvSource({
        "hub, models--other--model",
        "hub, other/model",
        "hub, tornado-transformers",
        "hub, blobs",
        "'', hub",
        "'', tornado-transformers"
    })
    void whatIsTheirsIsNotDeletedWhereverOursIs(String within, String name) throws IOException {
        Path shared = folder.resolve("huggingface").resolve(within);
        environment.put("TRANSFORMERS_CACHE", shared.toString());
        Path ours = SmallModels.gpt2(shared.resolve("tornado-transformers/mine"));
        Files.createDirectories(shared.resolve("blobs"));
        Files.writeString(shared.resolve("blobs/file"), "theirs");
        assertThat(run("models", "rm", "--yes", name).exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(ofOthers.resolve("config.json")).exists();
        assertThat(ours.resolve("config.json")).exists();
        assertThat(shared.resolve("blobs/file")).exists();
        assertThat(run("models", "rm", "--yes", "mine").exitCode()).isEqualTo(ExitCode.OK);
        assertThat(ours).doesNotExist();
    }

    @Test
    void aFolderIsNotDeletedByItsPath() {
        String path = cache.resolve("mine").toString();
        assertThat(run("models", "rm", "--yes", path).err()).contains(path + " is a folder of yours");
        assertThat(cache.resolve("mine")).isDirectory();
    }

    @Test
    void allNamesAreCheckedBeforeTheFirstIsDeleted() {
        assertThat(run("models", "rm", "--yes", "mine", "nobody/none").exitCode())
                .isEqualTo(ExitCode.FAILURE);
        assertThat(cache.resolve("mine")).isDirectory();
    }

    @Test
    void ofALinkTheLinkIsDeleted() throws IOException {
        Path elsewhere = SmallModels.gpt2(folder.resolve("elsewhere"));
        Files.createSymbolicLink(cache.resolve("linked"), elsewhere);
        assertThat(run("models", "rm", "--yes", "linked").exitCode()).isEqualTo(ExitCode.OK);
        assertThat(Files.exists(cache.resolve("linked"), LinkOption.NOFOLLOW_LINKS))
                .isFalse();
        assertThat(elsewhere.resolve("config.json")).exists();
    }

    @Test
    void aCheckpointLikeAFolderIsMade() {
        Path example = cache.resolve("mine");
        Path made = folder.resolve("made/here");
        CommandRun run = run("models", "make", "--like", example.toString(), made.toString());
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        assertThat(Checkpoint.open(made).config())
                .isEqualTo(Checkpoint.open(example).config());
        assertThat(Checkpoint.open(made).storedDType()).isEqualTo(DType.BF16);
        assertThat(run("generate", "-m", made.toString(), "-n", "2", "-q", "hello")
                        .exitCode())
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void aCheckpointLikeACachedModelIsMadeInFiles() {
        Path made = folder.resolve("made");
        run(
                "models",
                "make",
                "--like",
                "some-owner/some.model",
                "--file-size",
                "4K",
                "--dtype",
                "f32",
                made.toString());
        assertThat(names(made)).contains("model.safetensors.index.json", "model-00016-of-00016.safetensors");
        assertThat(Checkpoint.open(made).storedDType()).isEqualTo(DType.F32);
    }

    @Test
    void aPublishedShapeIsMade() {
        Path made = folder.resolve("made");
        assertThat(run("models", "make", "--like", "stories15M", made.toString())
                        .exitCode())
                .isEqualTo(ExitCode.OK);
        assertThat(Checkpoint.open(made).config())
                .isEqualTo(ModelPresets.named("stories15M").orElseThrow());
    }

    @Test
    void theSeedIsWhatWeightsDependOn() throws IOException {
        for (String seed : List.of("1", "2", "1b")) {
            String number = seed.substring(0, 1);
            run(
                    "models",
                    "make",
                    "--like",
                    "mine",
                    "--seed",
                    number,
                    folder.resolve(seed).toString());
        }
        Path first = folder.resolve("1/model.safetensors");
        assertThat(Files.mismatch(first, folder.resolve("1b/model.safetensors")))
                .isEqualTo(-1);
        assertThat(Files.mismatch(first, folder.resolve("2/model.safetensors"))).isNotEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt5", "llama2", "gpt2-xl"})
    void aShapeThatIsNoneIsNamed(String name) {
        CommandRun run =
                run("models", "make", "--like", name, folder.resolve("made").toString());
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err()).contains("--like " + name + " is neither a folder", "gpt2-124M", "llama2-7B");
        assertThat(folder.resolve("made")).doesNotExist();
    }

    @Test
    void whatIsThereIsNotWrittenOver() {
        CommandRun run = run("models", "make", "--like", "stories15M", cache.toString());
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err()).contains(cache + " exists, expected the name of a new folder");
    }

    @Test
    void moreThanTheDiskHoldsIsNotBegun() throws IOException {
        Path huge = Files.createDirectories(folder.resolve("huge"));
        Files.writeString(
                huge.resolve("config.json"),
                "{\"model_type\":\"gpt2\",\"vocab_size\":2000000000,\"n_positions\":8,\"n_embd\":1000000,"
                        + "\"n_head\":8,\"n_layer\":2}");
        CommandRun run = run(
                "models",
                "make",
                "--like",
                huge.toString(),
                folder.resolve("made").toString());
        assertThat(run.err()).contains("the checkpoint needs 4.0 PB, but only ");
        assertThat(names(folder)).doesNotContain("made");
    }
}
