package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.checkpoint.RandomCheckpoint;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class GenerateCommandTest {
    @TempDir
    private static Path folder;

    private static String gpt2;
    private static String llama;
    private static String withoutTokenizer;

    @BeforeAll
    static void writeModels() {
        gpt2 = SmallModels.gpt2(folder.resolve("gpt2 of Zoë")).toString();
        llama = SmallModels.llama(folder.resolve("llama")).toString();
        withoutTokenizer =
                SmallModels.withoutTokenizer(folder.resolve("no tokenizer")).toString();
    }

    static Stream<String> families() {
        return ModelFamilies.all().stream().map(ModelFamily::modelType);
    }

    @ParameterizedTest
    @MethodSource("families")
    void everyCommandTakesAnyFamily(String family) throws IOException {
        ModelConfig example = ModelFamilies.all().stream()
                .filter(each -> each.modelType().equals(family))
                .findFirst()
                .orElseThrow()
                .examples()
                .getFirst();
        Path model = folder.resolve(family);
        RandomCheckpoint.write(model, example, 3, StoredType.BF16);
        List<String> ids = new ArrayList<>();
        for (String command : List.of("generate", "run", "gpt2", "llama")) {
            CommandRun run = CommandRun.of(
                    command, "-m", model.toString(), "--prompt-ids", "3,5,7", "-n", "4", "--greedy", "--json");
            assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
            ids.add(run.json().get("ids").toString());
        }
        assertThat(ids.stream().distinct()).hasSize(1);
    }

    @Test
    void jsonHasTheKeysOfTheDesignInItsOrder() {
        JsonNode json =
                CommandRun.of("gpt2", "-m", gpt2, "--json", "hello world").json();
        List<String> keys = new ArrayList<>();
        json.fieldNames().forEachRemaining(keys::add);
        assertThat(keys)
                .containsExactly(
                        "model",
                        "engine",
                        "device",
                        "dtype",
                        "prompt_ids",
                        "ids",
                        "text",
                        "stop_reason",
                        "load_ms",
                        "jit_ms",
                        "prefill_tokens_per_s",
                        "decode_tokens_per_s",
                        "peak_rss_bytes",
                        "reused_tokens",
                        "guessed_tokens",
                        "right_guesses");
    }

    @Test
    void aPromptThatWasReadBeforeIsReadSooner(@TempDir Path work) throws IOException {
        Path file = work.resolve("kept");
        String[] call = {
            "generate",
            "-m",
            gpt2,
            "--json",
            "-n",
            "5",
            "--seed",
            "3",
            "--cache-file",
            file.toString(),
            "hello world hello"
        };
        JsonNode first = CommandRun.of(call).json();
        JsonNode second = CommandRun.of(call).json();
        assertThat(first.get("reused_tokens").asInt()).isZero();
        assertThat(second.get("reused_tokens").asInt())
                .isEqualTo(first.get("prompt_ids").size() - 1);
        assertThat(second.get("ids")).isEqualTo(first.get("ids"));
        Files.writeString(file, "not ours");
        CommandRun third = CommandRun.of(call);
        assertThat(third.json().get("ids")).isEqualTo(first.get("ids"));
        assertThat(third.err()).contains(file + " is no file of kept keys and values: it is made anew");
        assertThat(CommandRun.of(call).json().get("reused_tokens").asInt()).isPositive();
    }

    @Test
    void aCacheFileNeedsAFolderAndACache(@TempDir Path work) {
        CommandRun run = CommandRun.of("generate", "-m", gpt2, "--cache-file", work.toString(), "hello");
        assertThat(run.errLines())
                .containsExactly("transformers generate: --cache-file is " + work
                        + ", expected a file in a folder that is there");
        CommandRun receipt = CommandRun.of("generate", "-m", gpt2, "--receipt", work.toString(), "hello");
        assertThat(receipt.out()).isEmpty();
        assertThat(receipt.errLines())
                .containsExactly(
                        "transformers generate: --receipt is " + work + ", expected a file in a folder that is there");
        assertThat(CommandRun.of("generate", "-m", gpt2, "--cache-file", "x", "--no-cache", "hello")
                        .exitCode())
                .isEqualTo(ExitCode.USAGE);
    }

    @Test
    void jsonSaysWhatRan() {
        JsonNode json = CommandRun.of(
                        "llama", "-m", llama, "--json", "-n", "7", "--dtype", "bf16", "-e", "scalar", "hello")
                .json();
        assertThat(json.get("model").asText()).isEqualTo(llama);
        assertThat(json.get("engine").asText()).isEqualTo("scalar");
        assertThat(json.get("dtype").asText()).isEqualTo("bf16");
        assertThat(json.get("ids")).hasSize(7);
        assertThat(json.get("stop_reason").asText()).isEqualTo("length");
    }

    @Test
    void llamaPromptBeginsWithTheStartToken() {
        JsonNode ids =
                CommandRun.of("llama", "-m", llama, "--json", "hello").json().get("prompt_ids");
        assertThat(ids.get(0).asInt()).isEqualTo(1);
    }

    @Test
    void textIsTheResultAndNothingElse() {
        CommandRun run = CommandRun.of("gpt2", "-m", gpt2, "-q", "hello");
        String text = CommandRun.of("gpt2", "-m", gpt2, "--json", "hello")
                .json()
                .get("text")
                .asText();
        assertThat(run).isEqualTo(new CommandRun(ExitCode.OK, text + "\n", ""));
    }

    @Test
    void stderrNamesTheEngineAndTheSpeed() {
        CommandRun run = CommandRun.of("gpt2", "-m", gpt2, "-n", "3", "hello");
        assertThat(run.errLines()).hasSize(2);
        assertThat(run.errLines().getFirst()).contains("on engine host");
        assertThat(run.errLines().getLast())
                .startsWith("3 tokens (as many as asked for)")
                .contains("tokens/s");
    }

    @Test
    void stderrSaysThatNobodyAskedForSoMany() {
        assertThat(CommandRun.of("gpt2", "-m", gpt2, "hello").errLines().getLast())
                .startsWith("40 tokens (the default; -n takes another number)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-e=scalar", "--no-cache", "--threads=1", "--threads=3", "--graph=fused", "--math=strict"})
    void everyStrictWayToRunGivesTheSameIds(String option) {
        JsonNode expected =
                CommandRun.of("llama", "-m", llama, "--json", "hello world").json();
        JsonNode found = CommandRun.of("llama", "-m", llama, "--json", "hello world", option)
                .json();
        assertThat(found.get("ids")).isEqualTo(expected.get("ids"));
    }

    @Test
    void anotherSeedGivesAnotherText() {
        JsonNode first = CommandRun.of("gpt2", "-m", gpt2, "--json", "hello").json();
        JsonNode second = CommandRun.of("gpt2", "-m", gpt2, "--json", "--seed", "7", "hello")
                .json();
        assertThat(first.get("ids")).isNotEqualTo(second.get("ids"));
    }

    @Test
    void idsNeedNoTokenizer() {
        JsonNode json = CommandRun.of(
                        "gpt2", "-m", withoutTokenizer, "--prompt-ids", "5,17,96", "--greedy", "--json", "-n", "4")
                .json();
        assertThat(json.get("prompt_ids").toString()).isEqualTo("[5,17,96]");
        assertThat(json.get("ids")).hasSize(4);
        assertThat(json.get("text").isNull()).isTrue();
    }

    @Test
    void withoutTokenizerTheResultIsIds() {
        CommandRun run = CommandRun.of("gpt2", "-m", withoutTokenizer, "--prompt-ids", "5", "--greedy", "-n", "3");
        assertThat(run.out()).matches("\\d+,\\d+,\\d+\n");
    }

    @Test
    void brokenTokenizerCostsOnlyTheText() throws IOException {
        Path broken = SmallModels.withoutTokenizer(folder.resolve("broken tokenizer"));
        Files.writeString(broken.resolve("tokenizer.json"), "{");
        CommandRun run = CommandRun.of("gpt2", "-m", broken.toString(), "--prompt-ids", "5", "-n", "1", "--json");
        assertThat(run.json().get("text").isNull()).isTrue();
        assertThat(run.err()).contains("no text: ").contains("tokenizer.json");
    }

    @Test
    void noPromptBeginsFromNothing() {
        JsonNode json = CommandRun.of("llama", "-m", llama, "--json", "-n", "2").json();
        assertThat(json.get("prompt_ids").toString()).isEqualTo("[1]");
    }

    @Test
    void fullContextEndsTheText() {
        JsonNode json = CommandRun.of(
                        "gpt2", "-m", gpt2, "--json", "-n", "50", "--context", "8", "--prompt-ids", "1,2,3")
                .json();
        assertThat(json.get("stop_reason").asText()).isEqualTo("context");
        assertThat(json.get("ids")).hasSize(6);
    }

    @Test
    void stopTextEndsTheTextBeforeItself() {
        String text = CommandRun.of("gpt2", "-m", gpt2, "--json", "hello")
                .json()
                .get("text")
                .asText();
        String stop = text.substring(5, 7);
        JsonNode json = CommandRun.of("gpt2", "-m", gpt2, "--json", "--stop", "never", "--stop", stop, "hello")
                .json();
        assertThat(json.get("stop_reason").asText()).isEqualTo("stop");
        assertThat(json.get("text").asText()).isEqualTo(text.substring(0, text.indexOf(stop)));
    }

    @Test
    void configFileMeansItsFolder() {
        CommandRun run = CommandRun.of("gpt2", "-m", gpt2 + "/config.json", "-q", "-n", "1", "hello");
        assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "scalar"})
    void storiesContinueAsPublished(String engine) throws IOException {
        Path model = SharedData.require("models/stories260K");
        JsonNode golden = new ObjectMapper()
                .readTree(SharedData.require("golden/stories260K-200.json").toFile());
        JsonNode found = CommandRun.of("llama", "-m", model.toString(), "--greedy", "-n", "200", "--json", "-e", engine)
                .json();
        assertThat(found.get("ids")).hasSize(200);
        List<JsonNode> all = new ArrayList<>();
        found.get("prompt_ids").forEach(all::add);
        found.get("ids").forEach(all::add);
        assertThat(all).containsExactlyElementsOf(golden.get("greedy_ids"));
    }
}
