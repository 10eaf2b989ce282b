package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchCommandTest {
    @TempDir
    private static Path folder;

    private static String gpt2;
    private static Path earlier;

    /** One run that most tests look at: each costs a second or two of measuring the machine. */
    private static CommandRun json;

    @BeforeAll
    static void benchOnce() throws IOException {
        gpt2 = SmallModels.gpt2(folder.resolve("gpt2")).toString();
        json = bench("--dtype f32,int8 --threads 2 -p 8 -n 4,0 -d 0,9 -r 3 --warmup 0 --format json");
        earlier = Files.writeString(folder.resolve("earlier.json"), json.out());
    }

    @Test
    void everyCombinationIsARow() {
        assertThat(json.exitCode()).as(json.err()).isZero();
        List<String> keys = new ArrayList<>();
        json.json().get("results").forEach(row -> keys.add(row.get("key").textValue()));

        assertThat(keys).doesNotHaveDuplicates().hasSize(2 * 2 * 2);
        assertThat(keys).contains(gpt2 + " host 2 threads int8 tg4@d9", gpt2 + " host 2 threads f32 pp8");
    }

    @Test
    void aRowHoldsEveryFigure() {
        for (JsonNode row : json.json().get("results")) {
            assertThat(row.get("tokens_per_s").doubleValue())
                    .isBetween(
                            row.get("tokens_per_s_min").doubleValue(),
                            row.get("tokens_per_s_max").doubleValue());
            assertThat(row.get("speed_samples")).hasSize(3);
            for (String field : List.of("gb_per_s", "read_share", "gflop_per_s", "peak_share", "read_limit_gb_per_s")) {
                assertThat(row.get(field).doubleValue()).as(field).isPositive();
            }
        }
    }

    @Test
    void theMachineIsDescribed() {
        JsonNode result = json.json();

        assertThat(result.at("/environment/JDK").textValue()).isNotBlank();
        assertThat(result.at("/environment/load before").textValue()).isNotBlank();
        assertThat(result.get("limits")).hasSize(2);
        assertThat(result.at("/limits/1/threads").intValue()).isEqualTo(2);
    }

    @Test
    void anotherRunIsHeldAgainstAnEarlierOne() {
        CommandRun run = bench("--threads 2 -p 8 -n 5 -r 3 --warmup 0 --compare " + earlier);

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines().findFirst().orElseThrow()).contains("| × earlier |", "| change");
        assertThat(row(run, "pp8")).matches(".*\\| +\\d+\\.\\d\\d \\| (faster|SLOWER|within noise) +\\|");
        assertThat(row(run, "tg5")).matches(".*\\| +– \\| new +\\|");
        assertThat(run.err()).contains("only in " + earlier + ": " + gpt2 + " host 2 threads f32 tg4");
    }

    @Test
    void kernelsAreRowsOfTheirOwn() {
        CommandRun run = bench("--kernels --op upProj,attentionSoftmax --dtype f32,bf16 -r 1 --warmup 0 --threads 1"
                + " -e host,scalar --format csv -q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        List<String> lines = run.out().lines().toList();
        assertThat(lines.getFirst()).startsWith("key,model,op,phase,rows,shape,dtype,engine,threads,seconds,");
        assertThat(lines).hasSize(1 + 2 * 2 * (2 + 1));
        assertThat(lines)
                .allSatisfy(line ->
                        assertThat(line.split(",")).hasSize(lines.getFirst().split(",").length));
        assertThat(run.err()).isEmpty();
    }

    @Test
    void theProfileIsTheWholeAndItsParts() {
        CommandRun run = bench("--profile -p 8 -n 4 -d 9 -r 2 --warmup 0 --threads 2 --format json -q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        for (String test : List.of("pp8@d9", "tg4@d9")) {
            Map<String, JsonNode> parts = new LinkedHashMap<>();
            run.json().get("results").forEach(row -> {
                if (row.get("test").textValue().equals(test)) {
                    parts.put(row.get("op").textValue(), row);
                }
            });
            JsonNode sum = parts.remove("sum");
            JsonNode whole = parts.remove("whole, without clocks");

            assertThat(parts.keySet())
                    .containsSequence("tokenEmbedding", "positionEmbedding", "attentionNorm", "qkvProj");
            assertThat(parts.get("qkvProj").get("calls").intValue()).isEqualTo(2);
            assertThat(parts.get("lmHead").get("calls").intValue()).isOne();
            assertThat(parts.values()).allMatch(row -> row.get("seconds").doubleValue() > 0);
            assertThat(parts.values().stream()
                            .mapToDouble(row -> row.get("seconds").doubleValue())
                            .sum())
                    .isCloseTo(sum.get("seconds").doubleValue(), withinPercentage(0.1));
            assertThat(whole.get("share").doubleValue()).isOne();
            assertThat(whole.get("calls").intValue()).isEqualTo(sum.get("calls").intValue());
        }
    }

    @Test
    void sequencesGenerateTogether() {
        CommandRun run = bench("--profile --sequences 1,3 -p 0 -n 4 -d 9 -r 1 --warmup 0 --threads 2 --format json -q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        Map<String, Double> headBytes = new LinkedHashMap<>();
        run.json().get("results").forEach(row -> {
            if (row.get("op").textValue().equals("lmHead")) {
                double bytes =
                        row.get("gb_per_s").doubleValue() * row.get("seconds").doubleValue();
                headBytes.put(row.get("test").textValue(), bytes);
            }
        });
        assertThat(headBytes).containsOnlyKeys("tg4@d9", "tg4x3@d9");
        assertThat(headBytes.get("tg4x3@d9")).isCloseTo(headBytes.get("tg4@d9"), withinPercentage(0.1));
    }

    @Test
    void tokensOfAllSequencesCount() {
        CommandRun run = bench("--sequences 2 -p 0 -n 4 -r 1 --warmup 0 --threads 1 --format json -q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        JsonNode row = run.json().get("results").get(0);
        assertThat(row.get("test").textValue()).isEqualTo("tg4x2");
        assertThat(row.get("sequences").intValue()).isEqualTo(2);
        assertThat(row.get("tokens_per_s").doubleValue()).isPositive();
    }

    @Test
    void theProfileIsATableToo() {
        CommandRun run = bench("--profile -p 8 -n 0 -r 1 --warmup 0 --threads 1 -q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines().findFirst().orElseThrow())
                .containsSubsequence("| test", "| Op", "| calls |", " share |");
        assertThat(run.out()).containsPattern("\\| pp8 +\\| whole, without clocks +\\|.*\\| +100\\.0 % \\|");
    }

    @Test
    void predictionsNeedNoModel() {
        CommandRun run = CommandRun.of("bench", "--predict", "--threads", "1", "-q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("| this machine, 1 thread ", "| H200 ", "llama2-70B", "This machine, 1 thread: reads");
    }

    @Test
    void aTokenIsPredictedKernelByKernelWithoutTheGpu() {
        CommandRun run = CommandRun.of("bench", "Llama-2-7B", "--predict", "--device", "h200", "--dtype", "bf16", "-q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out().lines().findFirst().orElseThrow())
                .containsSubsequence(
                        "| task", "| kernel", "| launches", "| of bandwidth", "| bound by", "| ms as loops");
        assertThat(run.out())
                .containsPattern("\\| qkvProjSums +\\| LinearRowKernels.product +\\| +32 \\| +196608 \\| +32 \\|")
                .containsPattern(
                        "Llama-2-7B bf16 on h200 \\(cuda\\), a token at position 64, predicted: \\d+ tokens/s");
    }

    @Test
    void aTokenOfAFileOfBlocksIsPredicted() {
        String llama = SmallModels.llama(folder.resolve("llama")).toString();
        String file = folder.resolve("blocks.gguf").toString();
        CommandRun exported = CommandRun.of("export", llama, "--gguf", file, "--type", "q8_0");
        assertThat(exported.exitCode()).as(exported.err()).isZero();
        CommandRun run = CommandRun.of("bench", file, "--predict", "--device", "h200", "-e", "ptx", "-n", "8", "-q");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("\\| lmHead +\\| LinearRowKernels.product ")
                .containsPattern(
                        "blocks.gguf stored on h200 \\(ptx\\), a token at position 4, predicted: \\d+ tokens/s");
    }

    @Test
    void aPredictionNeedsAConfigAlone() throws IOException {
        Path alone = Files.createDirectories(folder.resolve("alone"));
        Files.copy(Path.of(gpt2, "config.json"), alone.resolve("config.json"));
        CommandRun run = CommandRun.of(
                "bench",
                alone.toString(),
                "--predict",
                "--device",
                "rtx4090",
                "-n",
                "8",
                "-d",
                "0,20",
                "--format",
                "json");

        assertThat(run.exitCode()).as(run.err()).isZero();
        JsonNode tokens = run.json().get("tokens");
        assertThat(tokens).hasSize(2);
        assertThat(tokens.get(1).get("position").intValue()).isEqualTo(24);
        assertThat(tokens.get(1).get("device").textValue()).isEqualTo("rtx4090");
        double seconds = 0;
        int launches = 0;
        for (JsonNode row : run.json().get("results")) {
            seconds += row.get("seconds").doubleValue();
            launches += row.get("launches").intValue();
        }
        double both = tokens.get(0).get("seconds").doubleValue()
                + tokens.get(1).get("seconds").doubleValue();
        assertThat(both).isCloseTo(seconds, withinPercentage(0.01));
        assertThat(launches).isEqualTo(2 * tokens.get(0).get("launches").intValue());
    }

    @Test
    void whatNeedsAModelSaysSo() {
        CommandRun none = CommandRun.of("bench");
        assertThat(none.exitCode()).isEqualTo(2);
        assertThat(none.err())
                .contains("a MODEL is missing, or --predict; see --help")
                .hasLineCount(1);
        CommandRun predicted = CommandRun.of("bench", "--predict", "--device", "h200");
        assertThat(predicted.exitCode()).isEqualTo(2);
        assertThat(predicted.err()).contains("a MODEL is missing; see --help").hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--predict                | --predict of a MODEL needs --device, one of h200, h100, a100, rtx4090",
                "--predict --device gtx   | --device gtx is not one that --predict knows: h200, h100, a100, rtx4090",
                "--predict --device h200 --sequences 2 | --predict --device is about tokens of one sequence",
                "--predict --device h200 -n 0          | --predict --device is about tokens of one sequence",
                "--predict --device h200 -d 60         | tg128@d60 needs 188 positions",
                "--predict --device h200 --profile     | --kernels, --profile and --compare time a MODEL",
                "--op qkvProj             | --op is for --kernels",
                "-r 0                     | --repetitions is 0, expected 1 to 1000",
                "--warmup -1              | --warmup is -1.0, expected 0 to 3600 seconds",
                "-p -1                    | --prompt-tokens is -1, expected 0 or more",
                "-n 4,-2                  | --tokens is -2, expected 0 or more",
                "-d -3                    | --depth is -3, expected 0 or more",
                "--sequences 0            | --sequences is 0, expected 1 to 1000",
                "--sequences 2 --kernels  | --kernels times Ops of one sequence: leave --sequences out",
                "-p 0 -n 0                | -p 0 and -n 0 leave nothing to time",
                "-e scalar --threads 2    | --threads is for the engine host, and the engine is scalar",
                "--threads 0              | --threads is 0, expected 1 to 1024",
                "--device 0:0             | --device is for the engines on a device, and the engine is host",
                "--profile -e host,opencl | --profile times the engines host and scalar",
                "--kernels --profile      | --kernels times Ops by themselves, --profile within a model: choose one",
                "--kernels -e host,opencl | --kernels times the engines host and scalar",
                "--format xml             | Invalid value for option '--format': found 'xml', expected one of md, json, csv",
                "-e warp                  | found 'warp'"
            })
    void aWrongCallIsOneLineAndTwo(String options, String message) {
        CommandRun run = bench(options);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(message).hasLineCount(1);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aTestThatDoesNotFitTheModelIsRefusedWithBothNumbers() {
        CommandRun run = bench("-p 60 -d 9 -q");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains("pp60@d9 needs 69 positions", "was trained for 64")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "not json                                     | it is not JSON",
                "{}                                           | it has no rows",
                "[1]                                          | it has no rows",
                "{\"results\": [{\"key\": \"a\"}]}            | row 0 has no key or no speeds",
                "{\"results\": [{\"key\": \"a\", \"speed_samples\": [0]}]}   | row 0 has no key or no speeds",
                "{\"results\": [{\"key\": 1, \"speed_samples\": [2]}]}       | row 0 has no key or no speeds"
            })
    void aFileThatIsNoResultIsRefused(String text, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("other.json"), text);
        CommandRun run = bench("--compare " + file);

        assertThat(run.exitCode()).isOne();
        assertThat(run.err()).contains("--compare " + file, message).hasLineCount(1);
    }

    @Test
    void aMissingFileIsRefused() {
        CommandRun run = bench("--compare " + folder.resolve("nowhere.json"));

        assertThat(run.exitCode()).isOne();
        assertThat(run.err()).contains("nowhere.json cannot be read").hasLineCount(1);
    }

    private static String row(CommandRun run, String test) {
        return run.out()
                .lines()
                .filter(line -> line.contains("| " + test + " "))
                .findFirst()
                .orElseThrow();
    }

    private static CommandRun bench(String options) {
        List<String> arguments = new ArrayList<>(List.of("bench", gpt2));
        arguments.addAll(Arrays.asList(options.split(" +")));
        return CommandRun.of(arguments.toArray(String[]::new));
    }
}
