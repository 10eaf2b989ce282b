package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLoader;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Fuzzing;
import io.github.tornadotransformers.testsupport.JsonMutator;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a stored trace holds: it is compared with a model, or refused in words. */
class GoldenFuzzTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden/gpt2.json");
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    private Path folder;

    @Test
    void aTraceIsComparedOrRefused() throws IOException {
        JsonNode trace = JSON.readTree(GOLDEN.toFile());
        ArrayNode steps = (ArrayNode) trace.get("steps");
        while (steps.size() > 2) {
            steps.remove(2);
        }
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.gpt2(), 11);
        Program program = checkpoint.config().program(checkpoint.config().contextLength());
        try (Arena arena = Arena.ofShared();
                HostForwardPass pass = new HostForwardPass(
                        program,
                        WeightLoader.load(checkpoint, program, DType.F32, new ArenaAllocator(arena)),
                        new ScalarOps())) {
            List<JsonNode> parts = List.of(steps.get(0), steps.get(1).get("ids"));
            new Fuzzing("golden-trace", List.of(CheckpointException.class)).run(300, (random, run) -> {
                Path file = run.resolve("trace.json");
                Files.writeString(file, new JsonMutator(random, parts).mutated(trace));
                GoldenTrace read = GoldenTrace.read(file);
                assertThat(read.positions()).isPositive();
                if (read.positions() <= program.contextLength()) {
                    read.check("scalar", pass, Tolerance.GOLDEN);
                }
            });
        }
    }
}
