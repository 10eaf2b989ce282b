package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.StoredTensor;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class VerifyCommandTest {
    @TempDir
    private static Path folder;

    private static String llama;

    @BeforeAll
    static void writeCheckpoint() {
        Path checkpoint = folder.resolve("llama");
        TestCheckpoints.write(checkpoint, TestCheckpoints.llama(), 5);
        llama = checkpoint.toString();
    }

    @Test
    void enginesAgreeBesideOtherSequences() {
        CommandRun run = CommandRun.of("verify", llama, "--beside", "3", "--steps", "4", "--trace", "op");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        assertThat(CommandRun.of("verify", llama, "--beside", "32").errLines())
                .containsExactly("transformers verify: --beside is 32, expected 0 to 31; see --help");
        assertThat(CommandRun.of("verify", "--kernels", "--beside", "1").exitCode())
                .isEqualTo(ExitCode.USAGE);
    }

    @Test
    void enginesThatAgreeEndWithZero() {
        CommandRun run = CommandRun.of("verify", llama, "--engines", "scalar,host", "--steps", "4");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("host against scalar (bit for bit): agree", "| layer 2 downProj |", "All agree.");
        assertThat(run.err()).contains("scalar: one thread, f32");
    }

    @Test
    void theFirstWrongOpIsNamed() {
        CommandRun run = CommandRun.of(
                "verify", llama, "--engines", "scalar", "--fault", "ulp:1:gatedMlp", "--trace", "op", "--json", "-q");
        assertThat(run.exitCode()).as(run.err()).isOne();
        JsonNode first = json(run.out()).at("/comparisons/0/first_difference");
        assertThat(first.get("step").intValue()).isZero();
        assertThat(first.get("layer").intValue()).isOne();
        assertThat(first.get("op").textValue()).isEqualTo("gatedMlp");
        assertThat(run.err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "NaN, norm.weight, 7, [7]",
        "Infinity, norm.weight, 7, [7]",
        "-Infinity, lm_head.weight, 119, '[3, 5]'",
        "NaN, layers.1.mlp.gate_proj.weight, 0, '[0, 0]'"
    })
    void weightsThatAreNotFiniteAreNoDifferenceAndAreNamed(float value, String name, int index, String place) {
        Path model = folder.resolve("broken " + value + name);
        StoredTensor tensor =
                TestCheckpoints.write(model, TestCheckpoints.llama(), 5).tensor(name);
        overwrite(tensor, index, value);
        String broken = "The weights are broken: tensor \"" + tensor.name() + "\" (F32 " + tensor.shape() + ") in "
                + tensor.file() + ": element " + place + " is " + value + "\n";

        CommandRun run = CommandRun.of("verify", model.toString(), "--steps", "2", "-q");
        assertThat(run.exitCode()).isOne();
        assertThat(run.out())
                .contains("host against scalar (bit for bit): agree", broken)
                .endsWith("All agree, but on values that are not finite.\n")
                .doesNotContain("First difference");

        Path report = folder.resolve("report of " + value + name);
        JsonNode json = json(CommandRun.of("verify", model.toString(), "--json", "-q", "--report", report.toString())
                .out());
        assertThat(json.get("agrees").booleanValue()).isTrue();
        assertThat(json.get("finite").booleanValue()).isFalse();
        assertThat(json.at("/broken_tensors/0/tensor").textValue()).isEqualTo(tensor.name());
        assertThat(json.at("/broken_tensors/0/index").intValue()).isEqualTo(index);
        assertThat(json.at("/broken_tensors/0/value").textValue()).isEqualTo(Float.toString(value));
        assertThat(json.at("/comparisons/0/first_not_finite/step").isNumber()).isTrue();
        assertThat(report.resolve("report.html")).content().contains("The weights are broken: tensor");
    }

    @Test
    void valuesThatOverflowAreToldFromBrokenWeights() {
        Path model = folder.resolve("overflowing");
        StoredTensor tensor =
                TestCheckpoints.write(model, TestCheckpoints.llama(), 5).tensor("norm.weight");
        for (int index = 0; index < 38; index++) {
            overwrite(tensor, index, Float.MAX_VALUE);
        }
        CommandRun run = CommandRun.of("verify", model.toString(), "--steps", "1", "-q");
        assertThat(run.exitCode()).isOne();
        assertThat(run.out())
                .containsPattern(
                        "Every weight is finite, but step 0, lmHead, position 7, element \\d+ is (NaN|-?Infinity)"
                                + " on all engines\\.")
                .endsWith("All agree, but on values that are not finite.\n");
    }

    @Test
    void aDifferenceIsOneWhetherWeightsAreBrokenOrNot() {
        Path model = folder.resolve("broken and faulty");
        StoredTensor tensor =
                TestCheckpoints.write(model, TestCheckpoints.llama(), 5).tensor("norm.weight");
        overwrite(tensor, 7, Float.NaN);
        CommandRun run = CommandRun.of(
                "verify", model.toString(), "--engines", "scalar", "--fault", "swapped-layers", "--steps", "1", "-q");
        assertThat(run.exitCode()).isOne();
        assertThat(run.out()).contains("First difference: step 0, layer 0 oProj", "The weights are broken: tensor");
        assertThat(run.out()).endsWith("They do not agree.\n");
    }

    /** Also where the first difference is one of finite values. */
    @Test
    void brokenWeightsAreNamedBesideAGoldenTrace() throws IOException {
        Path model = folder.resolve("broken beside a golden trace");
        StoredTensor tensor =
                TestCheckpoints.write(model, TestCheckpoints.llama(), 5).tensor("lm_head.weight");
        overwrite(tensor, 119, Float.NaN);
        String zeros =
                String.join(",", Collections.nCopies(TestCheckpoints.llama().vocabSize(), "0"));
        Path golden = Files.writeString(
                folder.resolve("zeros.json"),
                "{\"steps\":[{\"ids\":[1,2],\"last_row_logits\":[" + zeros + "],\"next\":1}]}");
        CommandRun run =
                CommandRun.of("verify", model.toString(), "-q", "--golden", golden.toString(), "--engines", "host");
        assertThat(run.out())
                .containsPattern("First difference: step 0, lmHead, position 1, element 0: \\S*\\d")
                .contains("The weights are broken: tensor \"lm_head.weight\"");
    }

    @Test
    void aGoldenTraceOfMorePositionsThanTheContextIsRefused() throws IOException {
        Path golden = Files.writeString(
                folder.resolve("long.json"),
                "{\"steps\":[{\"ids\":[1,2,3,4,5,6,7,8,9],\"last_row_logits\":[0.5],\"next\":1}]}");
        CommandRun run = CommandRun.of(
                "verify", llama, "-q", "--golden", golden.toString(), "--engines", "host", "--context", "8");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains("the golden trace has 9 positions, but the context holds 8: take a shorter trace, or raise"
                        + " --context (the model was trained for 64)");
    }

    private static void overwrite(StoredTensor tensor, int index, float value) {
        try (RandomAccessFile file = new RandomAccessFile(tensor.file().toFile(), "rw")) {
            file.seek(tensor.offset() + (long) Float.BYTES * index);
            file.writeInt(Integer.reverseBytes(Float.floatToRawIntBits(value)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void jsonHoldsEveryPoint() {
        JsonNode result = json(CommandRun.of("verify", llama, "--json", "-q", "--steps", "2", "--prompt-ids", "3,1,4")
                .out());
        assertThat(result.get("agrees").booleanValue()).isTrue();
        assertThat(result.get("prompt_ids").toString()).isEqualTo("[3,1,4]");
        assertThat(result.get("engines")).hasSize(2);
        JsonNode points = result.at("/comparisons/0/points");
        assertThat(points).hasSize(1 + 2 * 3 + 1 + 1);
        assertThat(points.get(0).get("elements").intValue()).isEqualTo((3 + 1) * 38);
        assertThat(result.at("/environment/JDK").textValue()).isNotBlank();
    }

    @Test
    void theReportIsOnePageAndItsData() throws IOException {
        Path report = folder.resolve("a report");
        CommandRun run = CommandRun.of(
                "verify", llama, "--engines", "scalar", "--fault", "swapped-layers", "--report", report.toString());
        assertThat(run.exitCode()).isOne();
        Path ordinary = Files.createFile(folder.resolve("made as any file"));
        assertThat(Files.getPosixFilePermissions(report.resolve("report.html")))
                .isEqualTo(Files.getPosixFilePermissions(ordinary));
        String page = Files.readString(report.resolve("report.html"));
        assertThat(page)
                .contains("fault swapped-layers against scalar", "First difference: step 0, layer 0 oProj", "<svg");
        assertThat(page).doesNotContain("<script", "http://", "https://");
        assertThat(json(Files.readString(report.resolve("report.json")))
                        .get("agrees")
                        .booleanValue())
                .isFalse();
        try (Stream<Path> files = Files.list(report)) {
            assertThat(files).hasSize(2);
        }
    }

    @Test
    void aReportThatCannotBeWrittenIsOneLine() throws IOException {
        Path file = Files.writeString(folder.resolve("a file"), "");
        CommandRun run = CommandRun.of("verify", llama, "-q", "--steps", "1", "--report", file.toString());
        assertThat(run.exitCode()).isOne();
        assertThat(run.err())
                .startsWith("transformers verify: the report cannot be written to " + file)
                .hasLineCount(1);
    }

    @Test
    void kernelsGiveAMatrix() {
        CommandRun run = CommandRun.of("verify", "--kernels", "--engine", "host", "-q");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .contains(
                        "| kernel | weights | host |",
                        "| linear + bias, GELU_ERF | int8 |",
                        "| rmsNorm of groups | f32 |",
                        "| attentionScores, window, cap | f32 |");
        assertThat(run.out().lines().filter(line -> line.endsWith("shapes, equal |")))
                .hasSize(61);
    }

    @Test
    void publishedFactsNeedAReleasedModel() {
        CommandRun run = CommandRun.of("verify", llama, "--published", "--engines", "host", "-q");
        assertThat(run.exitCode()).isOne();
        assertThat(run.err()).contains("nothing published is known about a model of this shape");
    }

    /** Of the released GPT-2's vocabulary and layers, which are what it is known by. */
    @Test
    void publishedFactsOfBrokenWeightsNameThem() {
        Path model = folder.resolve("released");
        Gpt2Config config = new Gpt2Config(new Sizes(50_257, 128, 4, 4, 12), 1, 1e-5f, true, true);
        StoredTensor tensor = TestCheckpoints.write(model, config, 5).tensor("ln_f.weight");
        TestTokenizers.byteLevel(model);
        String[] call = {"verify", model.toString(), "--published", "--engines", "host", "-q"};
        assertThat(CommandRun.of(call).out())
                .contains("logit 0 is ")
                .doesNotContain("finite")
                .endsWith("They do not agree.\n");

        overwrite(tensor, 2, Float.NaN);
        CommandRun run = CommandRun.of(call);
        assertThat(run.exitCode()).isOne();
        assertThat(run.out())
                .contains(
                        "The weights are broken: tensor \"" + tensor.name() + "\" (F32 [4]) in " + tensor.file()
                                + ": element [2] is NaN\n",
                        "logit 0 is NaN, not -35.2362442");

        for (int index = 0; index < 4; index++) {
            overwrite(tensor, index, Float.MAX_VALUE);
        }
        assertThat(CommandRun.of(call).out())
                .containsPattern("Every weight is finite, but logit \\d+ at position \\d+ is (NaN|-?Infinity)\\.\n");
    }

    static Stream<Arguments> wrongCalls() {
        return Stream.of(
                Arguments.of(new String[] {"verify"}, "expected a MODEL or --kernels"),
                Arguments.of(new String[] {"verify", "m", "--kernels"}, "expected a MODEL or --kernels"),
                Arguments.of(
                        new String[] {"verify", "m", "--engines", "host"},
                        "names one engine, expected two or more to compare, as in scalar,host"),
                Arguments.of(new String[] {"verify", "m", "-e", "scalar"}, "as in scalar,host"),
                Arguments.of(new String[] {"verify", "m", "--engines", "host,host"}, "names an engine twice"),
                Arguments.of(new String[] {"verify", "m", "--engines", "warp"}, "warp"),
                Arguments.of(new String[] {"verify", "m", "--steps", "0"}, "--steps is 0"),
                Arguments.of(new String[] {"verify", "m", "--dump-kernels"}, "expected the report's folder"),
                Arguments.of(new String[] {"verify", "m", "--trace", "all"}, "--trace is 'all'"),
                Arguments.of(new String[] {"verify", "m", "--prompt", "a", "--prompt-ids", "1"}, "one of them"));
    }

    @ParameterizedTest
    @MethodSource("wrongCalls")
    void wrongCallsAreOneLineAndTwo(String[] arguments, String message) {
        CommandRun run = CommandRun.of(arguments);
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(message).hasLineCount(1);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aPromptThatDoesNotFitIsRefusedWithBothNumbers() {
        CommandRun run = CommandRun.of("verify", llama, "--steps", "60", "-q");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains("the prompt's 8 tokens and 59 more need 67 positions, but the model was trained for 64: take"
                        + " fewer steps or a shorter prompt");
    }

    @Test
    void stepsThatDoNotFitTheContextAreRefusedHoweverMany() {
        CommandRun run = CommandRun.of("verify", llama, "--steps", "30", "-q", "--context", "16");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains("8 tokens and 29 more need 37 positions, but the context holds 16: take fewer steps or a"
                        + " shorter prompt, or raise --context (the model was trained for 64)");
        assertThat(CommandRun.of("verify", llama, "--steps", "2147483647", "-q").err())
                .contains("8 tokens and 2147483646 more need 2147483654 positions");
    }

    @Test
    void anEngineThatCannotRunIsThree() {
        CommandRun run = CommandRun.of("verify", llama, "--engines", "host,metal", "-q");
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).contains("-e metal").hasLineCount(1);
    }

    private static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
