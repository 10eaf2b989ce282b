package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code benchmarks/time-pytorch.py} itself: {@code -Dpython=…} is a Python that has torch and transformers. */
class TimePytorchTest {
    private static final String PYTHON = System.getProperty("python", "python3");

    /** Writes each shape's config.json into a folder, and prints the shapes that compare-peers.py knows. */
    private static final String DESCRIBE = """
            import pathlib, runpy, sys
            benchmarks, folder = map(pathlib.Path, sys.argv[1:])
            for name, config in runpy.run_path(str(benchmarks / "time-pytorch.py"))["SHAPES"].items():
                config.to_json_file(folder / f"{name}.json", use_diff=False)
            print(*runpy.run_path(str(benchmarks / "compare-peers.py"))["SHAPES"], sep="\\n")
            """;

    @TempDir
    private Path folder;

    @BeforeAll
    static void needPytorch(@TempDir Path scratch) throws Exception {
        assumeTrue(hasPytorch(scratch), PYTHON + " is not there, or has no transformers and torch (-Dpython=…)");
    }

    private static boolean hasPytorch(Path scratch) throws Exception {
        try {
            return python(scratch, "-c", "import transformers, torch").exitCode() == 0;
        } catch (IOException notThere) {
            return false;
        }
    }

    private static ScriptRun python(Path scratch, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(PYTHON));
        command.addAll(List.of(arguments));
        return RunningScript.start(scratch, Map.of("PATH", System.getenv("PATH"), "LANG", "C.UTF-8"), command)
                .finish();
    }

    @Test
    void shapesAreThoseThatOursIsTimedWith() throws Exception {
        ScriptRun run = python(
                folder, "-c", DESCRIBE, ComparePeersTest.script().getParent().toString(), folder.toString());
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines())
                .isNotEmpty()
                .allSatisfy(shape -> assertThat(Checkpoint.readConfig(folder.resolve(shape + ".json")))
                        .isEqualTo(ModelPresets.named(shape).orElseThrow()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"f32", "bf16"})
    void everyRepetitionOfEveryTestIsPrinted(String type) throws Exception {
        ScriptRun run = time("stories15M", type, "pp8", "tg4", "--repetitions", "2");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines().map(line -> line.replaceFirst("[1-9]\\d*\\.\\d+$", "N")))
                .containsExactly("pp8 tokens/s: N", "pp8 tokens/s: N", "tg4 tokens/s: N", "tg4 tokens/s: N");
    }

    @Test
    void unknownShapeIsAWrongCall() throws Exception {
        ScriptRun run = time("gpt3", "f32", "pp8");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("gpt3").contains("gpt2-124M");
    }

    private ScriptRun time(String... arguments) throws Exception {
        Path script = ComparePeersTest.script().resolveSibling("time-pytorch.py");
        return python(
                folder,
                Stream.concat(Stream.of(script.toString()), Stream.of(arguments))
                        .toArray(String[]::new));
    }
}
