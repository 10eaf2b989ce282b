package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every mistake gets one line that names it, an exit code, and an empty stdout. */
class WrongCallTest {
    @TempDir
    private static Path folder;

    private static String gpt2;

    @BeforeAll
    static void writeModels() {
        gpt2 = SmallModels.gpt2(folder.resolve("gpt2")).toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--top-k -1            | --top-k is -1, expected 0 (all tokens) or more",
                "--temperature -1      | --temperature is -1.0, expected 0 (greedy) or more",
                "--temperature NaN     | --temperature is NaN, expected 0 (greedy) or more",
                "--top-p 0             | --top-p is 0.0, expected more than 0 and at most 1 (all tokens)",
                "--min-p 2             | --min-p is 2.0, expected 0 (all tokens) to 1",
                "--repetition-penalty 0| --repetition-penalty is 0.0, expected more than 0 (1: no penalty)",
                "--seed x              | Invalid value for option '--seed': found 'x', expected a whole number up to 9223372036854775807",
                "-n 0                  | --tokens is 0, expected 1 or more",
                "-n -5                 | --tokens is -5, expected 1 or more",
                "-n many               | Invalid value for option '--tokens': found 'many', expected a whole number up to 2147483647",
                "-n 2147483648         | Invalid value for option '--tokens': found '2147483648', expected a whole number up to 2147483647",
                "-n $1                 | Invalid value for option '--tokens': found '$1', expected a whole number up to 2147483647",
                "--temperature warm    | Invalid value for option '--temperature': found 'warm', expected a number",
                "-e host -e scalar     | --engine is given more than once (host, scalar), expected one value",
                "-e host,scalar        | Invalid value for option '--engine': found 'host,scalar', expected one of host, scalar, tornado, opencl, ptx, spirv, cuda, metal",
                "--seed 1 --seed 2     | --seed is given more than once (1, 2), expected one value",
                "--dtype f8            | Invalid value for option '--dtype': found 'f8', expected one of f32, bf16, f16, int8, stored",
                "--math exact          | Invalid value for option '--math': found 'exact', expected one of strict, fast",
                "--graph tree          | Invalid value for option '--graph': found 'tree', expected one of layered, fused",
                "--device 0:0          | --device is for the engines on a device, and the engine is host",
                "-e ptx --device 0     | --device is 0, expected two numbers as in 0:1",
                "--threads 0           | --threads is 0, expected 1 to 1024",
                "-e scalar --threads 2 | --threads is for the engine host, and the engine is scalar",
                "--context 0           | --context is 0, expected 1 to 64, the positions that the model was trained for",
                "--context 65          | --context is 65, expected 1 to 64, the positions that the model was trained for",
                "--prompt-ids 1        | PROMPT and --prompt-ids are given, expected one of them",
                "--stop ''             | --stop is empty, expected a text",
                "again                 | unexpected 'again': a text with spaces needs quotes",
                "--verbos              | Unknown option: '--verbos'; a text that begins with - comes after --",
                "--temprature 0.9      | Unknown option: '--temprature'; did you mean --temperature?",
                "--promt-ids 1         | Unknown option: '--promt-ids'; did you mean --prompt-ids or --prompt-lookup?",
                "more --sed 1          | Unknown option: '--sed'; did you mean --seed?",
                "-x                    | Unknown option: '-x'; a text that begins with - comes after --",
                "-hello                | Unknown option: '-hello'; did you mean --help?; a text that begins with - comes after --",
                "-qe hots              | Invalid value for option '--engine': found 'hots', expected one of host, scalar, tornado, opencl, ptx, spirv, cuda, metal",
                "--file f              | PROMPT and --file are given, expected one of them",
            })
    void wrongOptionIsNamed(String options, String message) {
        List<String> arguments = new ArrayList<>(List.of("gpt2", "hello"));
        Arrays.stream(options.split(" "))
                .map(each -> each.equals("''") ? "" : each)
                .forEach(arguments::add);
        arguments.addAll(List.of("-m", gpt2));
        assertWrongCall(message, arguments.toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "1,2,", "1,2,,"})
    void idsThatEndInAComma(String ids) {
        assertWrongCall(
                "--prompt-ids is '" + ids + "', expected a value behind each comma",
                "gpt2",
                "-m",
                gpt2,
                "--prompt-ids",
                ids);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",1", "1,,2"})
    void idsThatLackOne(String ids) {
        assertThat(CommandRun.of("gpt2", "-m", gpt2, "--prompt-ids", ids))
                .matches(run -> run.exitCode() == ExitCode.USAGE && run.out().isEmpty())
                .extracting(CommandRun::err)
                .asString()
                .contains("--prompt-ids")
                .contains("found '', expected a whole number");
    }

    @Test
    void otherListsThatEndInAComma() {
        assertWrongCall(
                "--engines is 'scalar,', expected a value behind each comma", "verify", gpt2, "--engines", "scalar,");
    }

    @Test
    void textThatBeginsWithADash() {
        assertWrongCall(
                "Unknown option: '- item one'; a text that begins with - comes after --",
                "gpt2",
                "-m",
                gpt2,
                "- item one");
        assertThat(CommandRun.of("gpt2", "-m", gpt2, "-n", "1", "-q", "--", "- item one")
                        .exitCode())
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void fileAndIds() {
        assertWrongCall(
                "--file and --prompt-ids are given, expected one of them",
                "gpt2",
                "-m",
                gpt2,
                "--file",
                "f",
                "--prompt-ids",
                "1");
    }

    @Test
    void optionWithoutValue() {
        assertWrongCall("Missing required parameter for option '--model' (NAME|DIR)", "gpt2", "hello", "-m");
    }

    @Test
    void emptyPrompt() {
        assertWrongCall(
                "the prompt is empty: give a text, --prompt-ids, or no prompt to begin from nothing",
                "gpt2",
                "-m",
                gpt2,
                "");
    }

    @Test
    void promptThatIsTooLong() {
        assertWrongCall(
                "the prompt has 70 tokens, but the model was trained for 64: shorten the prompt",
                "gpt2",
                "-q",
                "-m",
                gpt2,
                "x".repeat(70));
    }

    @Test
    void promptThatIsTooLongForTheContextAskedFor() {
        assertWrongCall(
                "the prompt has 30 tokens, but the context holds 8: shorten the prompt, or raise --context (the model was"
                        + " trained for 64)",
                "gpt2",
                "-m",
                gpt2,
                "--context",
                "8",
                "x".repeat(30));
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "scalar"})
    void contextOfMorePositionsThanAnArrayHolds(String engine) {
        Path model = folder.resolve("endless");
        TestCheckpoints.write(
                model,
                new LlamaConfig(
                        new Sizes(61, 1_000_000_000, 24, 40, 1),
                        new Heads(4, 2, 6),
                        new Rope(10_000, 6, new RopeScaling.None()),
                        1e-5f,
                        false,
                        false,
                        false),
                1);
        assertWrongCall(
                "--context is 1000000000, expected 1 to 178956928, the positions of this model that an array of the cache"
                        + " can hold",
                "llama",
                "-m",
                model.toString(),
                "--prompt-ids",
                "1,2",
                "--context",
                "1000000000",
                "-e",
                engine);
    }

    @Test
    void idOutsideTheVocabulary() {
        assertWrongCall(
                "prompt id 266 (number 2) is outside the model's vocabulary: vocab_size is 266",
                "gpt2",
                "-q",
                "-m",
                gpt2,
                "--prompt-ids",
                "1,266");
    }

    @Test
    void nothingLikeTheUnknownCommand() {
        assertThat(CommandRun.of("xyz"))
                .isEqualTo(new CommandRun(ExitCode.USAGE, "", "transformers: there is no command 'xyz'; see --help\n"));
    }

    @Test
    void unknownCommand() {
        CommandRun run = CommandRun.of("gpt3", "hello");
        assertThat(run)
                .isEqualTo(new CommandRun(
                        ExitCode.USAGE,
                        "",
                        "transformers: there is no command 'gpt3'; did you mean gpt2?; see --help\n"));
    }

    @Test
    void noCommandShowsTheHelpAsAnError() {
        CommandRun run = CommandRun.of();
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("Usage: transformers").contains("perplexity");
    }

    @Test
    void unknownModel() {
        String missing = folder.resolve("no such folder").toString();
        assertThat(failure("gpt2", "-m", missing, "hello"))
                .startsWith("model " + missing + " is neither a folder nor a known name (shakespeare-gpt2, ");
    }

    @Test
    void modelThatIsAFile() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        assertThat(failure("gpt2", "-m", file.toString(), "hello"))
                .isEqualTo(file + " is a file, expected the folder of a checkpoint (with config.json), or a GGUF file");
    }

    @Test
    void modelWithoutConfig() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertThat(failure("gpt2", "-m", empty.toString(), "hello")).contains("has no config.json");
    }

    @Test
    void modelWithoutTokenizer() {
        Path model = SmallModels.withoutTokenizer(folder.resolve("no tokenizer"));
        assertThat(failure("gpt2", "-m", model.toString(), "hello"))
                .contains("has no tokenizer: expected tokenizer.json");
    }

    @Test
    void folderThatCannotBeRead() throws IOException {
        Path locked = SmallModels.gpt2(folder.resolve("locked"));
        Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("---------"));
        try {
            assumeTrue(!Files.isReadable(locked), "this user, like root, may read everything");
            assertThat(failure("gpt2", "-m", locked.toString(), "hello")).contains(locked.toString());
        } finally {
            Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("rwx------"));
        }
    }

    @Test
    void nanInTheWeightsIsNamedAtTheFirstLogit() throws IOException {
        Path model = folder.resolve("nan");
        TestCheckpoints.write(model, TestCheckpoints.untiedGpt2(), 1, StoredType.F32);
        Path weights = model.resolve("model.safetensors");
        try (RandomAccessFile file = new RandomAccessFile(weights.toFile(), "rw")) {
            for (long at = file.length() - Float.BYTES; at > file.length() / 2; at -= 64 * Float.BYTES) {
                file.seek(at);
                file.writeInt(Integer.reverseBytes(Float.floatToRawIntBits(Float.NaN)));
            }
        }
        assertThat(failure("gpt2", "-q", "-m", model.toString(), "--prompt-ids", "1,2,3"))
                .containsPattern("logit \\d+ at position 2 is NaN");
    }

    @Test
    void deviceEngineWithoutSdk() {
        CommandRun run = CommandRun.of("gpt2", "-m", gpt2, "-e", "tornado", "hello");
        assertThat(run)
                .isEqualTo(new CommandRun(
                        ExitCode.NO_ENGINE,
                        "",
                        "transformers gpt2: -e tornado: no TornadoVM SDK was found: ./tornado-env.sh says how to get one;"
                                + " -e host needs none\n"));
    }

    @Test
    void stackTraceIsShownWhenAskedFor() {
        CommandRun run = CommandRun.of(
                "gpt2", "--stacktrace", "-m", folder.resolve("nix").toString(), "hello");
        assertThat(run.err()).contains("\tat io.github.tornadotransformers").contains("transformers gpt2: model ");
    }

    /** A bug of ours is not blamed on the caller, whatever Java calls it. */
    @Test
    void anIllegalArgumentInsideIsABug() {
        Map<String, String> broken = new HashMap<>() {
            @Override
            public String get(Object key) {
                throw new IllegalArgumentException("a bug");
            }
        };
        CommandRun run = CommandRun.with(broken, "", "models");
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(onlyLine("models", run))
                .isEqualTo(
                        "internal error, please report it with --stacktrace: java.lang.IllegalArgumentException: a bug");
    }

    /** What stderr says after the command's name. */
    private static String failure(String... arguments) {
        CommandRun run = CommandRun.of(arguments);
        assertThat(run.out()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        return onlyLine(arguments[0], run);
    }

    private static void assertWrongCall(String message, String... arguments) {
        CommandRun run = CommandRun.of(arguments);
        assertThat(run.out()).isEmpty();
        assertThat(onlyLine(arguments[0], run)).isEqualTo(message + "; see --help");
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
    }

    private static String onlyLine(String command, CommandRun run) {
        String prefix = "transformers " + command + ": ";
        assertThat(run.errLines()).hasSize(1);
        assertThat(run.err()).startsWith(prefix).endsWith("\n");
        return run.errLines().getFirst().substring(prefix.length());
    }
}
