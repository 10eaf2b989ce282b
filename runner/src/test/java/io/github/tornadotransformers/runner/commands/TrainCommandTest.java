package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.training.TrainingLock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrainCommandTest {
    private static final String CONFIG =
            "{\"model_type\":\"gpt2\",\"vocab_size\":270,\"n_positions\":16,\"n_embd\":8,\"n_layer\":1,\"n_head\":2}";

    @TempDir
    private static Path folder;

    private static String text;
    private static String config;
    private static String tokenizer;
    private static String gpt2;

    @BeforeAll
    static void writeFiles() throws IOException {
        text = Files.writeString(folder.resolve("text"), "hello world, hello all the world\n\n".repeat(60))
                .toString();
        config = Files.writeString(folder.resolve("config.json"), CONFIG).toString();
        tokenizer = folder.resolve("tokenizer").toString();
        CommandRun run = CommandRun.of("train", "tokenizer", text, "--vocab", "265", "--out", tokenizer);
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        gpt2 = SmallModels.gpt2(folder.resolve("gpt2")).toString();
    }

    private static CommandRun train(Path out, String... more) {
        List<String> arguments = new ArrayList<>(List.of("train", "--config", config, "--tokenizer", tokenizer));
        arguments.addAll(List.of("--data", text, "--out", out.toString(), "--batch", "2", "--eval-every", "4"));
        arguments.addAll(Arrays.asList(more));
        return CommandRun.of(arguments.toArray(String[]::new));
    }

    private static void assertRefused(CommandRun run, int exitCode, String... words) {
        assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
        assertThat(run.errLines()).hasSize(1);
        assertThat(run.err()).contains(words);
    }

    @Test
    void aTrainedModelIsACheckpointThatOtherCommandsRun() {
        Path out = folder.resolve("trained");
        CommandRun run = train(out, "--steps", "12", "--lr", "0.01", "--json", "--dtype", "bf16");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        assertThat(run.json().get("best_validation_loss").asDouble()).isBetween(2.0, 5.6);
        assertThat(run.json().get("steps").asInt()).isEqualTo(12);
        assertThat(run.err()).contains("step 8 of 12: validation loss").contains("loss: . training, o validation");
        CommandRun generated = CommandRun.of("gpt2", "-m", out.toString(), "hello", "-n", "5", "--greedy", "-q");
        assertThat(generated.exitCode()).as(generated.err()).isEqualTo(ExitCode.OK);
        assertThat(CommandRun.of("gpt2", "-m", out.toString(), "-n", "2", "-q").exitCode())
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void aRunInTwoPartsLeavesTheFilesOfOneInOne() throws IOException {
        Path straight = folder.resolve("straight");
        Path parts = folder.resolve("parts");
        assertThat(train(straight, "--steps", "10").exitCode()).isEqualTo(ExitCode.OK);
        assertThat(train(parts, "--steps", "10", "--until", "5", "-e", "scalar").exitCode())
                .isEqualTo(ExitCode.OK);
        assertThat(train(parts, "--steps", "10", "--resume", "--threads", "3").exitCode())
                .isEqualTo(ExitCode.OK);
        try (Stream<Path> files = Files.list(straight)) {
            for (Path file : files.toList()) {
                assertThat(parts.resolve(file.getFileName())).hasSameBinaryContentAs(file);
            }
        }
    }

    @Test
    void aCheckpointIsTrainedFurther() {
        Path out = folder.resolve("further");
        CommandRun run = CommandRun.of(
                "train",
                gpt2,
                "--data",
                text,
                "--out",
                out.toString(),
                "--steps",
                "6",
                "--context",
                "8",
                "--json",
                "-q",
                "--validation",
                "0",
                "--batch",
                "2");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        assertThat(run.err()).isEmpty();
        assertThat(run.json().get("best_step").isNull()).isTrue();
        assertThat(CommandRun.of("perplexity", text, "-m", out.toString()).exitCode())
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void aFolderWithSomethingInItIsNotTouched() {
        Path out = folder.resolve("twice");
        assertThat(train(out, "--steps", "2").exitCode()).isEqualTo(ExitCode.OK);
        assertRefused(train(out, "--steps", "2"), ExitCode.FAILURE, "has a run", "--resume");
        assertRefused(train(folder, "--steps", "2"), ExitCode.FAILURE, "is not an empty folder");
        assertRefused(train(folder.resolve("new"), "--resume"), ExitCode.FAILURE, "has no run to resume");
    }

    @Test
    void aRunOfOtherOptionsIsNotResumedAndTheyAreNamed() {
        Path out = folder.resolve("options");
        assertThat(train(out, "--steps", "4").exitCode()).isEqualTo(ExitCode.OK);
        assertRefused(
                train(out, "--resume", "--lr", "0.5", "--warmup", "3", "--clip", "2"),
                ExitCode.FAILURE,
                "the run in " + out + " cannot be resumed: ",
                "--lr was 0.001 and is 0.5; --final-lr was 1.0E-4 and is 0.05; --warmup was 0 and is 3; --clip was 1.0"
                        + " and is 2.0");
        assertRefused(
                train(out, "--resume", "--steps", "3"),
                ExitCode.USAGE,
                "--steps is 3, and the run has taken 4: it can be trained longer, not shorter; --until stops it"
                        + " earlier");
    }

    /** The learning rate's way down is that of the run's first steps, the warm-up too. */
    @Test
    void aRunIsTrainedLonger() {
        Path out = folder.resolve("longer");
        assertThat(train(out, "--steps", "20", "--until", "6").exitCode()).isEqualTo(ExitCode.OK);
        assertRefused(
                train(out, "--resume", "--steps", "10"), ExitCode.USAGE, "--steps is 10, and the run began with 20");
        CommandRun longer = train(out, "--resume", "--steps", "30", "--json");
        assertThat(longer.exitCode()).as(longer.err()).isEqualTo(ExitCode.OK);
        assertThat(longer.json().get("steps").asInt()).isEqualTo(30);
        assertThat(longer.err())
                .contains("from step 6 of 30", "step 28 of 30: validation loss", "step 30 of 30: validation loss");
        CommandRun done = train(out, "--resume", "--json");
        assertThat(done.exitCode()).as(done.err()).isEqualTo(ExitCode.OK);
        assertThat(done.json().get("steps").asInt()).isEqualTo(30);
    }

    @Test
    void aFolderThatAnotherTrainingWritesToIsRefused() {
        Path out = folder.resolve("locked");
        String[] words = {"another training writes to " + out, "choose another folder"};
        try (TrainingLock _ = TrainingLock.hold(out)) {
            assertRefused(train(out, "--steps", "2", "-q"), ExitCode.FAILURE, words);
        }
        assertThat(train(out, "--steps", "4", "--until", "2").exitCode()).isEqualTo(ExitCode.OK);
        try (TrainingLock _ = TrainingLock.hold(out)) {
            assertRefused(train(out, "--steps", "4", "--resume", "-q"), ExitCode.FAILURE, words);
        }
        assertThat(train(out, "--steps", "4", "--resume").exitCode()).isEqualTo(ExitCode.OK);
    }

    /** Before the model is read. */
    @Test
    void aDamagedStateIsRefused() throws IOException {
        Path out = folder.resolve("damaged");
        assertThat(train(out, "--steps", "12").exitCode()).isEqualTo(ExitCode.OK);
        Path state = out.resolve("training-state.safetensors");
        String bytes = Files.readString(state, StandardCharsets.ISO_8859_1);
        String step = "\\\"step\\\":";
        Files.writeString(state, bytes.replace(step + "12", step + "-1"), StandardCharsets.ISO_8859_1);
        assertRefused(
                train(out, "--resume", "--steps", "12"),
                ExitCode.FAILURE,
                state + " is damaged: its \"validation_losses\" is not what a training run writes");
    }

    @ParameterizedTest
    @CsvSource({
        "--steps, 0, 1 or more",
        "--lr, -1, a number above 0",
        "--lr, NaN, a number above 0",
        "--final-lr, 5, 0 to --lr",
        "--beta2, 1, below 1",
        "--validation, 1, 0 to 0.9",
        "--warmup, 9999, which is 1000",
        "--context, 17, '1 to 16, the model''s context'",
        "--until, 0, 1 or more",
        "--threads, 0, 1 to",
        "--dtype, int8, one of f64",
        "--keep, none, best"
    })
    void aValueOutOfRangeIsNamed(String option, String value, String expected) {
        assertRefused(train(folder.resolve("refused"), option, value), ExitCode.USAGE, option, value, expected);
        assertThat(folder.resolve("refused")).doesNotExist();
    }

    @Test
    void whatIsMissingIsNamed() {
        assertRefused(CommandRun.of("train", "--out", "x"), ExitCode.USAGE, "--data is missing");
        assertRefused(CommandRun.of("train", "--data", text), ExitCode.USAGE, "--out is missing");
        assertRefused(CommandRun.of("train", "--data", text, "--out", "x"), ExitCode.USAGE, "CHECKPOINT", "--config");
        assertRefused(
                CommandRun.of("train", "--config", config, "--data", text, "--out", "x"),
                ExitCode.USAGE,
                "--config needs --tokenizer");
    }

    @Test
    void anEngineThatIsNotHereIsRefused() {
        String message =
                "-e tornado: no TornadoVM SDK was found: ./tornado-env.sh says how to get one; -e host needs none";
        assertRefused(train(folder.resolve("x"), "-e", "tornado"), ExitCode.NO_ENGINE, message);
        assertThat(folder.resolve("x")).doesNotExist();
        assertRefused(
                CommandRun.of("train", "step", gpt2, "--prompt", "hello world", "-e", "tornado", "--device", "0:0"),
                ExitCode.NO_ENGINE,
                message);
        assertRefused(
                CommandRun.of("train", "step", gpt2, "--prompt", "hello world", "--device", "0:0"),
                ExitCode.USAGE,
                "--device is for the engines on a device");
    }

    @Test
    void aTextShorterThanTheContextIsRefused() throws IOException {
        Path small = Files.writeString(folder.resolve("short"), "hello");
        CommandRun run = CommandRun.of(
                "train",
                gpt2,
                "--data",
                small.toString(),
                "--out",
                folder.resolve("never").toString());
        assertRefused(run, ExitCode.FAILURE, "tokens for training", "64");
        assertThat(folder.resolve("never")).doesNotExist();
    }

    @Test
    void aTokenizerWithMoreIdsThanTheModelIsRefused() throws IOException {
        Path small = Files.writeString(folder.resolve("small.json"), CONFIG.replace("270", "100"));
        CommandRun run = CommandRun.of(
                "train", "--config", small.toString(), "--tokenizer", tokenizer, "--data", text, "--out", "x");
        assertRefused(run, ExitCode.FAILURE, "ids up to 264", "vocabulary of 100");
    }

    @Test
    void aModelThatDoesNotFitTheMemoryIsRefusedBeforeAnythingIsAllocated() throws IOException {
        Path huge = Files.writeString(folder.resolve("huge.json"), CONFIG.replace("\"n_embd\":8", "\"n_embd\":200000"));
        CommandRun run = CommandRun.of(
                "train", "--config", huge.toString(), "--tokenizer", tokenizer, "--data", text, "--out", "x");
        assertRefused(run, ExitCode.FAILURE, "training needs", "TRANSFORMERS_JVM_FLAGS=-Xmx");
    }

    @Test
    void aVocabularyThatTheTextCannotFillIsRefused() {
        CommandRun run = CommandRun.of("train", "tokenizer", text, "--vocab", "9000", "--out", "x");
        assertRefused(run, ExitCode.USAGE, "9000", "the text has pairs for");
    }

    @Test
    void aDivergingRunEndsWithTheStepAndTheLoss() {
        CommandRun run = train(folder.resolve("diverging"), "--steps", "30", "--lr", "1e6", "--warmup", "0", "-q");
        assertRefused(run, ExitCode.FAILURE, "has a loss of", "training diverges");
    }

    @Test
    void aStepShowsLossesAndGradientsOnBothEngines() {
        JsonNode host = CommandRun.of("train", "step", gpt2, "--prompt", "hello world", "--lr", "0.1", "--json")
                .json();
        assertThat(host.get("loss_after_step").asDouble())
                .isLessThan(host.get("loss").asDouble());
        assertThat(host.get("gradients").fieldNames()).toIterable().contains("transformer.wte.weight");
        JsonNode scalar = CommandRun.of(
                        "train", "step", gpt2, "--prompt", "hello world", "--lr", "0.1", "--json", "-e", "scalar")
                .json();
        assertThat(scalar.get("gradients")).isEqualTo(host.get("gradients"));
        assertThat(scalar.get("loss_after_step")).isEqualTo(host.get("loss_after_step"));
        CommandRun table = CommandRun.of("train", "step", gpt2, "--prompt-ids", "1,2,3");
        assertThat(table.out()).contains("transformer.h.1.mlp.c_proj.bias").contains("loss after a step of 1.0E-4");
    }

    @Test
    void aStepNeedsAPromptThatFits() {
        assertRefused(CommandRun.of("train", "step", gpt2), ExitCode.USAGE, "one of --prompt and --prompt-ids");
        assertRefused(CommandRun.of("train", "step", gpt2, "--prompt-ids", "1"), ExitCode.USAGE, "2 to 65");
        assertRefused(
                CommandRun.of("train", "step", gpt2, "--prompt-ids", "1,99999"), ExitCode.USAGE, "token id 99999");
    }

    @Test
    void aStepOnTheTrainedLlamaGivesTheReferenceLosses() throws IOException {
        String model = SharedData.require("models/stories260K").toString();
        JsonNode golden = new ObjectMapper()
                .readTree(SharedData.require("golden/grad-stories260K.json").toFile());
        JsonNode found = CommandRun.of(
                        "train",
                        "step",
                        model,
                        "--prompt-ids",
                        "1,403,407,261,378,432,383,286,261,376",
                        "--lr",
                        "0.01",
                        "--json")
                .json();
        for (String loss : List.of("loss", "loss_after_step")) {
            double expected = golden.get(loss).asDouble();
            assertThat(found.get(loss).asDouble()).as(loss).isBetween(expected * (1 - 1e-5), expected * (1 + 1e-5));
        }
        assertThat(found.get("gradients").fieldNames())
                .toIterable()
                .containsExactlyInAnyOrderElementsOf(() -> golden.get("grads").fieldNames());
    }
}
