package io.github.tornadotransformers.runner.madeup;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.benchmarks.OpCase;
import io.github.tornadotransformers.benchmarks.OpCases;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.testsupport.Generations;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A family that exists in this folder alone does what every family does: it is loaded, generated from, verified and timed, and no
 * line of the program knows it.
 */
class MadeUpFamilyTest {
    private static final MadeUpConfig CONFIG = new MadeUpFamily().examples().getFirst();
    private static final int[] PROMPT = {3, 14, 15, 9, 2, 6, 5, 35};

    @TempDir
    private Path folder;

    private Checkpoint checkpoint;

    @BeforeEach
    void write() {
        checkpoint = TestCheckpoints.write(folder, CONFIG, 8);
    }

    private EngineSession open(EngineKind engine, DType dtype) {
        return Engines.open(checkpoint, EngineSettings.of(engine).withDType(dtype));
    }

    @Test
    void isLoadedFromItsCheckpoint() {
        assertThat(checkpoint.config()).isEqualTo(CONFIG);
        assertThat(checkpoint.notices()).isEmpty();
        assertThat(checkpoint.tensor("floors.2.think.weight").shape()).containsExactly(90L, 34L);
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void isGeneratedFromWithAndWithoutTheCache(DType dtype) {
        int[] cached = generated(EngineKind.HOST, dtype, true);
        assertThat(cached).hasSize(20).isEqualTo(generated(EngineKind.SCALAR, dtype, false));
    }

    private int[] generated(EngineKind engine, DType dtype, boolean cached) {
        try (EngineSession session = open(engine, dtype)) {
            GenerationOptions options = GenerationOptions.ofTokens(20).withCache(cached);
            return Generations.greedy(session.forward(), PROMPT, options).ids();
        }
    }

    @Test
    void isGeneratedFromByTheCommand() {
        assertThat(generatedByCommand("host")).isEqualTo(generatedByCommand("scalar"));
    }

    private int[] generatedByCommand(String engine) {
        CommandRun run = CommandRun.of(
                "generate", "-m", folder.toString(), "-e", engine, "--prompt-ids", "3,14,15,9", "-n", "12", "--json");
        assertThat(run.exitCode()).as(run.err()).isZero();
        return new ObjectMapper().convertValue(run.json().get("ids"), int[].class);
    }

    @Test
    void isVerifiedOpByOp() {
        CommandRun run = CommandRun.of(
                "verify", folder.toString(), "--engines", "scalar,host", "--trace", "op", "--steps", "6", "-q");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).contains("| layer 3 sayNorm |", "| logitScaling |", "All agree.");
    }

    @Test
    void aFaultInItIsFound() {
        CommandRun run = CommandRun.of(
                "verify", folder.toString(), "--engines", "scalar", "--fault", "ulp:2:gatedMlp", "--trace", "op", "-q");
        assertThat(run.exitCode()).isOne();
        assertThat(run.out()).contains("First difference: step 0, layer 2 gatedMlp");
    }

    static Stream<OpCases.Key> ops() {
        return new OpCases(CONFIG).keys(List.of(BenchTest.Phase.values()), List.of(), DType.OF_MATRICES).stream();
    }

    @ParameterizedTest
    @MethodSource("ops")
    void itsOpsAreCheckedAndTimed(OpCases.Key key) {
        try (OpCase each = new OpCases(CONFIG).open(key);
                HostOps engine = new VectorOps(2)) {
            assertThat(each.firstDifference(engine, _ -> {})).isEmpty();
        }
    }

    @Test
    void bothKindsOfItsLayersAreAmongThem() {
        assertThat(ops().map(OpCases.Key::op)).contains("attentionScores", "attentionScores.window3");
    }

    @Test
    void itIsTimedByItsFolderAndByItsPublishedShape() {
        CommandRun run = CommandRun.of(
                "bench",
                folder.toString(),
                MadeUpFamily.PRESET,
                "-p",
                "8",
                "-n",
                "4",
                "-r",
                "2",
                "--warmup",
                "0",
                "-q");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).contains(MadeUpFamily.PRESET, "pp8", "tg4");
    }
}
