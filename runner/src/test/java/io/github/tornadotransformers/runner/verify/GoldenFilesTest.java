package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLoader;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.CheckpointTensors;
import io.github.tornadotransformers.testsupport.Float64Model;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Stored traces of seeded checkpoints: made by {@link Float64Model} (run with {@code -Dgolden.write=true} after a change of
 * models or seeds), checked against it, and passed by the engine.
 */
class GoldenFilesTest {
    private static final Path FOLDER = Path.of("src/test/resources/golden");
    private static final int STEPS = 4;
    private static final int[] PROMPT = {5, 17, 3, 42, 8};
    private static final MathContext DIGITS = new MathContext(10);

    /** A seeded checkpoint and the name of its trace. */
    record Model(String name, ModelConfig config, long seed) {
        Path file() {
            return FOLDER.resolve(name + ".json");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final Model GPT2 = new Model("gpt2", TestCheckpoints.gpt2(), 11);
    private static final Model LLAMA = new Model("llama", TestCheckpoints.llama(), 13);

    static List<Model> models() {
        return List.of(
                GPT2,
                new Model("untied-gpt2", TestCheckpoints.untiedGpt2(), 12),
                LLAMA,
                new Model("biased-llama", TestCheckpoints.biasedLlama(), 14));
    }

    @TempDir
    private Path folder;

    @ParameterizedTest
    @MethodSource("models")
    void theStoredTraceIsTheFloat64Models(Model model) throws IOException {
        JsonNode made = trace(TestCheckpoints.write(folder, model.config, model.seed));
        if (Boolean.getBoolean("golden.write")) {
            Files.createDirectories(FOLDER);
            Files.writeString(model.file(), made + "\n");
        }
        JsonNode stored = new ObjectMapper().readTree(model.file().toFile());
        assertSameNumbers("", stored, made);
    }

    @ParameterizedTest
    @MethodSource("models")
    void theEnginePassesTheStoredTrace(Model model) {
        Comparison comparison = check(model, model.file());
        assertThat(comparison.first()).isEmpty();
        assertThat(comparison.points()).hasSize(1 + 2 * model.config.layers() + 2);
        assertThat(comparison.points().values()).allMatch(each -> each.elements() > 0);
    }

    @Test
    void anotherModelsTraceIsRefused() {
        assertThatThrownBy(() -> check(LLAMA, GPT2.file()))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("it is not a trace of this model");
    }

    @Test
    void aWrongElementOfATraceIsFound() throws IOException {
        ObjectNode stored =
                (ObjectNode) new ObjectMapper().readTree(LLAMA.file().toFile());
        ArrayNode residual = (ArrayNode) stored.at("/steps/0/all_rows_trace/3");
        residual.set(38 + 7, residual.get(38 + 7).doubleValue() + 0.01);
        Path changed = Files.writeString(folder.resolve("changed.json"), stored.toString());
        FirstDifference first = check(LLAMA, changed).first().orElseThrow();
        assertThat(first.toString()).startsWith("step 0, layer 1 oProj, position 1, element 7:");
    }

    private Comparison check(Model model, Path golden) {
        Checkpoint checkpoint = TestCheckpoints.write(folder, model.config, model.seed);
        Program program = checkpoint.config().program(checkpoint.config().contextLength());
        try (Arena arena = Arena.ofShared();
                HostForwardPass pass = new HostForwardPass(
                        program,
                        WeightLoader.load(checkpoint, program, DType.F32, new ArenaAllocator(arena)),
                        new ScalarOps())) {
            return GoldenTrace.read(golden).check("scalar", pass, Tolerance.GOLDEN);
        }
    }

    private static ObjectNode trace(Checkpoint checkpoint) {
        Float64Model model = new Float64Model(checkpoint.config(), new CheckpointTensors(checkpoint));
        ObjectNode trace = JsonNodeFactory.instance.objectNode();
        ArrayNode steps = trace.putArray("steps");
        int[] ids = PROMPT;
        for (int step = 0; step < STEPS; step++) {
            Float64Model.Result result = model.run(ids);
            double[] logits = result.logits()[ids.length - 1];
            int next = argmax(logits);
            ObjectNode node = steps.addObject();
            Arrays.stream(ids).forEach(node.putArray("ids")::add);
            addAll(node.putArray("last_row_logits"), logits);
            node.put("next", next);
            addTrace(node, result.trace(), step == 0);
            ids = Arrays.copyOf(ids, ids.length + 1);
            ids[ids.length - 1] = next;
        }
        return trace;
    }

    private static void addTrace(ObjectNode node, List<double[][]> trace, boolean allRows) {
        ArrayNode rows = node.putArray(allRows ? "all_rows_trace" : "last_row_trace");
        for (double[][] point : trace) {
            ArrayNode array = rows.addArray();
            int first = allRows ? 0 : point.length - 1;
            for (int row = first; row < point.length; row++) {
                addAll(array, point[row]);
            }
        }
    }

    private static void addAll(ArrayNode array, double[] values) {
        for (double value : values) {
            array.add(new BigDecimal(value).round(DIGITS));
        }
    }

    private static int argmax(double[] values) {
        int best = 0;
        for (int i = 1; i < values.length; i++) {
            best = values[i] > values[best] ? i : best;
        }
        return best;
    }

    private static void assertSameNumbers(String path, JsonNode expected, JsonNode actual) {
        if (expected.isNumber()) {
            double value = expected.doubleValue();
            assertThat(actual.doubleValue()).as(path).isCloseTo(value, within(1e-8 + 1e-8 * Math.abs(value)));
            return;
        }
        assertThat(actual.size()).as(path).isEqualTo(expected.size());
        if (expected.isArray()) {
            for (int i = 0; i < expected.size(); i++) {
                assertSameNumbers(path + "/" + i, expected.get(i), actual.get(i));
            }
        } else {
            expected.fieldNames()
                    .forEachRemaining(
                            name -> assertSameNumbers(path + "/" + name, expected.get(name), actual.path(name)));
        }
    }
}
