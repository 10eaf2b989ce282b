package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code benchmarks/compare-peers.py} with fake programs, whose figures are known. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the fakes are shell scripts")
class ComparePeersTest {
    private static final String SEARCH_PATH = System.getenv("PATH");

    /** What the table's columns are called, up to the peers. */
    private static final String COLUMNS = "| shape | test | threads | type: ours / theirs | ours |";

    @TempDir
    private Path folder;

    @BeforeEach
    void makeFakes() throws IOException {
        assumeTrue(isOnPath("python3"), "python3 is not on PATH");
        // Ours is faster in each call: 100, 200, 300 … tokens/s for a prompt, a tenth of that for decoding.
        fake("transformers", """
                echo . >> calls
                n=$(grep -c . calls)
                row='"read_share":0.5,"peak_share":0.25,"read_limit_gb_per_s":40.5'
                printf '{"environment":{"processor":"P","cores":"2","JDK":"25"},"results":['
                printf '{"test":"pp128","speed_samples":[%d,1,9999],%s},' $((n * 100)) "$row"
                printf '{"test":"tg64","speed_samples":[%d],%s}]}' $((n * 10)) "$row"
                """);
        fake("llama-bench", """
                printf '[{"n_prompt":128,"n_gen":0,"samples_ts":[400.0]},{"n_prompt":0,"n_gen":64,"samples_ts":[20.0]}]'
                """);
        fake("run", "echo 'once upon'; echo 'achieved tok/s: 16.0' >&2\n");
        fake("runq", "echo 'achieved tok/s: 32.0' >&2\n");
        fake("timed", "echo loading; echo 'tokens/s: 5.0'; echo 'tokens/s: 50.0'; echo 'tokens/s: 10.0'\n");
        fake("python", """
                echo 'pp128 tokens/s: 5.0'; echo 'pp128 tokens/s: 50.0'; echo 'pp128 tokens/s: 25.0'
                echo 'tg64 tokens/s: 8.0'
                """);
        for (String file :
                List.of("stories15M-f32.gguf", "stories15M-f32.bin", "gpt2-124M-f32.gguf", "gpt2-124M-f32.bin")) {
            Files.writeString(folder.resolve(file), "");
        }
    }

    private static boolean isOnPath(String program) {
        return List.of(SEARCH_PATH.split(":", -1)).stream()
                .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
    }

    /** A program that appends its name, threads and arguments to {@code log}, and does as {@code body} says. */
    private void fake(String name, String body) throws IOException {
        FakeCheckout.script(folder.resolve(name), """
                cd '%s'
                echo "%s $OMP_NUM_THREADS: $*" >> log
                """.formatted(folder, name) + body);
    }

    private ScriptRun compare(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of("python3", script().toString(), "--models", folder.toString()));
        command.addAll(List.of("--ours", folder.resolve("transformers").toString()));
        command.addAll(List.of(options));
        return RunningScript.start(folder, Map.of("PATH", SEARCH_PATH, "LANG", "C.UTF-8"), command)
                .finish();
    }

    static Path script() {
        Path candidate = Path.of("").toAbsolutePath();
        while (!Files.exists(candidate.resolve("transformers"))) {
            candidate = candidate.getParent();
        }
        return candidate.resolve("benchmarks/compare-peers.py");
    }

    @Test
    void tableHoldsMediansAndRatiosOfRounds() throws Exception {
        ScriptRun run = compare(
                "--llama-cpp=" + folder,
                "--llama2c=" + folder,
                "--llama3-java=" + folder.resolve("timed"),
                "--pytorch=" + folder.resolve("python"),
                "--rounds=3",
                "--shapes=stories15M",
                "--types=f32",
                "--threads=1",
                "--tests=pp128,tg64");
        assertThat(run.out()).startsWith(COLUMNS + """
                 llama.cpp | llama2.c | llama3.java | PyTorch |
                | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |
                | stories15M | pp128 | 1 | f32 / f32 | 200 (25% of peak) | 400 · **0.50** (0.25–0.75) | – | 10 · **20.00** (10.00–30.00) | 25 · **8.00** (4.00–12.00) |
                | stories15M | tg64 | 1 | f32 / f32 | 20 (50% of read) | 20 · **1.00** (0.50–1.50) | 16 · **1.25** (0.62–1.88) | 10 · **2.00** (1.00–3.00) | 8 · **2.50** (1.25–3.75) |

                Tokens/s, median of 3 rounds; **bold**: ours / theirs, (least–greatest of the rounds); –: not measured.
                Machine: P, 2 cores; JDK 25.
                """);
        assertThat(run.out())
                .contains("Read bandwidth beside it with 1 thread: median 40.5 GB/s (40.5–40.5).\n")
                .endsWith("Not measured: llm.c (--llmc is not given).\n");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void allMeasureTheSameTestsInTurns() throws Exception {
        compare(
                "--llama-cpp=" + folder,
                "--llama2c=" + folder,
                "--llama3-java=" + folder.resolve("timed") + " -x",
                "--pytorch=" + folder.resolve("python"),
                "--rounds=2",
                "--shapes=stories15M",
                "--types=f32",
                "--threads=2",
                "--tests=pp128,tg64",
                "--repetitions=1");
        List<String> round = List.of(
                "transformers 2: bench stories15M -q -e host --dtype f32 --threads 2 -r 1 --format json -p 128 -n 64",
                "llama-bench 2: -m FOLDER/stories15M-f32.gguf -t 2 -r 1 -o json -p 128 -n 64",
                "run 2: FOLDER/stories15M-f32.bin -z FOLDER/tokenizer.bin -t 0 -n 65",
                "timed 2: -x FOLDER/stories15M-f32.gguf pp128 1",
                "timed 2: -x FOLDER/stories15M-f32.gguf tg64 1",
                "python 2: BENCHMARKS/time-pytorch.py stories15M f32 pp128 tg64 --threads 2 --repetitions 1");
        List<String> twice = new ArrayList<>(round);
        twice.addAll(round);
        assertThat(log()).isEqualTo(String.join("\n", twice) + "\n");
    }

    /** What the fakes were called with. */
    private String log() throws IOException {
        return Files.readString(folder.resolve("log"))
                .replace(folder.toString(), "FOLDER")
                .replace(script().getParent().toString(), "BENCHMARKS");
    }

    @Test
    void pytorchNeedsNoModelFileAndHasNoHalfAndNoInt8() throws Exception {
        ScriptRun run = compare(
                "--pytorch=" + folder.resolve("python"),
                "--rounds=1",
                "--shapes=tinyllama-1.1B",
                "--types=bf16,int8",
                "--threads=1",
                "--tests=tg64");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("| tinyllama-1.1B | tg64 | 1 | bf16 / f16 | 10 (50% of read) | – |\n")
                .contains("| tinyllama-1.1B | tg64 | 1 | bf16 / bf16 | 10 (50% of read) | 8 · **1.25** (1.25–1.25) |\n")
                .contains("| tinyllama-1.1B | tg64 | 1 | int8 / q8 | 20 (50% of read) | – |\n")
                .doesNotContain("PyTorch:");
        assertThat(log().lines().filter(line -> line.startsWith("python")))
                .containsExactly(
                        "python 1: BENCHMARKS/time-pytorch.py tinyllama-1.1B bf16 tg64 --threads 1 --repetitions 1");
    }

    @Test
    void testThatPytorchDidNotTimeIsAFailure() throws Exception {
        fake("python", "echo 'tg64 tokens/s: 8.0'; echo 'not pp128 tokens/s: 9.0'\n");
        ScriptRun run = compare(
                "--pytorch=" + folder.resolve("python"),
                "--rounds=1",
                "--shapes=gpt2-124M",
                "--types=f32",
                "--threads=1",
                "--tests=pp128");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).contains("Failed: PyTorch failed: ").contains("printed no tokens/s: ");
    }

    @Test
    void testsThatAShapeHasNoPositionsForAreLeftOut() throws Exception {
        ScriptRun run =
                compare("--rounds=1", "--shapes=stories15M", "--types=f32", "--threads=1", "--tests=pp512,tg64");
        assertThat(run.out())
                .doesNotContain("pp512")
                .contains("| stories15M | tg64 | 1 | f32 / f32 | 10 (50% of read) |");
    }

    @Test
    void failedPeerIsNamedAndTheOthersAreMeasured() throws Exception {
        fake("timed", "echo 'warning' >&2; echo 'no such layer' >&2; exit 3\n");
        ScriptRun run = compare(
                "--llama-cpp=" + folder,
                "--llmc=" + folder.resolve("timed"),
                "--rounds=2",
                "--shapes=gpt2-124M",
                "--types=f32",
                "--threads=1",
                "--tests=pp128");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out())
                .contains(
                        "| gpt2-124M | pp128 | 1 | f32 / f32 | 150 (25% of peak) | 400 · **0.38** (0.25–0.50) | – |\n")
                .contains("Failed 2 times: llm.c failed: ")
                .endsWith("timed " + folder + "/gpt2-124M-f32.bin pp128 3 ended with 3: no such layer.\n");
    }

    @Test
    void peerThatPrintsNoFigureHasFailed() throws Exception {
        fake("llama-bench", "echo 'usage: …'\n");
        fake("run", "echo 'nothing was timed' >&2\n");
        ScriptRun run = compare(
                "--llama-cpp=" + folder,
                "--llama2c=" + folder,
                "--rounds=1",
                "--repetitions=1",
                "--shapes=stories15M",
                "--types=f32",
                "--threads=1",
                "--tests=tg64");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out())
                .contains("printed no JSON: 'usage: …'.\n")
                .contains("printed no tokens/s: 'nothing was timed'.\n");
    }

    @Test
    void ownFailureLeavesThePeersFigures() throws Exception {
        fake("transformers", "echo 'transformers: no memory' >&2; exit 1\n");
        ScriptRun run = compare(
                "--llama-cpp=" + folder,
                "--rounds=1",
                "--shapes=gpt2-124M",
                "--types=f32",
                "--threads=1",
                "--tests=tg64");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out())
                .contains("| gpt2-124M | tg64 | 1 | f32 / f32 | – | 20 |\n")
                .contains("Failed: ours failed: ")
                .contains(" ended with 1: transformers: no memory.\n");
    }

    @Test
    void missingModelFileIsSaid() throws Exception {
        ScriptRun run = compare(
                "--llama-cpp=" + folder,
                "--rounds=1",
                "--shapes=gpt2-124M",
                "--types=bf16",
                "--threads=1",
                "--tests=tg64");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("| gpt2-124M | tg64 | 1 | bf16 / f16 | 10 (50% of read) | – |\n")
                .contains("Not measured: llama.cpp: no gpt2-124M-f16.gguf.\n")
                .contains("Not measured: llama.cpp: no gpt2-124M-bf16.gguf.\n");
    }

    @Test
    void figuresOfEveryRoundAreWritten() throws Exception {
        Path file = folder.resolve("figures.json");
        compare("--rounds=2", "--shapes=gpt2-124M", "--types=f32", "--threads=1", "--tests=tg64", "--json=" + file);
        assertThat(Files.readString(file).replaceAll("\\s+", ""))
                .contains("{\"round\":2,\"program\":\"ours\",\"type\":\"f32\",\"shape\":\"gpt2-124M\",\"threads\":1,"
                        + "\"test\":\"tg64\",\"tokens_per_s\":20}]");
    }

    @Test
    void wrongCallSaysWhatIsExpected() throws Exception {
        ScriptRun run = compare("--tests=pp0");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("'pp0' is not ppN (a prompt of N tokens) or tgN (N tokens one by one)");
    }
}
