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
import org.junit.jupiter.params.provider.CsvSource;
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/steps/0/ids/1 | \"52\" | step 0: ids[1] is \"52\", expected a token id",
                "/steps/0/ids/1 | 195.9 | step 0: ids[1] is 195.9, expected a token id",
                "/steps/0/ids/1 | 17.0 | step 0: ids[1] is 17.0, expected a token id",
                "/steps/0/ids/1 | -1 | step 0: ids[1] is -1, expected a token id",
                "/steps/0/ids/1 | 4294967297 | step 0: ids[1] is 4294967297, expected a token id",
                "/steps/0/ids/1 | null | step 0: ids[1] is null, expected a token id",
                "/steps/0/ids | [] | step 0: ids is [], expected a list of numbers",
                "/steps/0/ids | 7 | step 0: ids is 7, expected a list of numbers",
                "/steps/2/next | \"3\" | step 2: next is \"3\", expected a token id",
                "/steps/2/next | 3.5 | step 2: next is 3.5, expected a token id",
                "/steps/1/last_row_logits/4 | \"0.5\" | step 1: last_row_logits[4] is \"0.5\", expected a number",
                "/steps/1/last_row_logits/4 | null | step 1: last_row_logits[4] is null, expected a number",
                "/steps/1/last_row_logits/4 | 1e999 | step 1: last_row_logits[4] is \"Infinity\", expected a number",
                "/steps/1/last_row_logits/4 | true | step 1: last_row_logits[4] is true, expected a number",
                "/steps/0/all_rows_trace/3/7 | \"0\" | step 0: all_rows_trace[3][7] is \"0\", expected a number",
                "/steps/0/all_rows_trace/3 | 7 | step 0: all_rows_trace[3] is 7, expected a list of numbers",
                "/steps/0/all_rows_trace | 7 | step 0: all_rows_trace is 7, expected a list of lists of numbers",
                "/steps/0/ids/1 | 139 | the golden trace has the token id 139, but the model's vocab_size is 139",
            })
    void whatIsNotExactlyATraceIsRefused(String place, String value, String words) throws IOException {
        ObjectNode stored =
                (ObjectNode) new ObjectMapper().readTree(LLAMA.file().toFile());
        int slash = place.lastIndexOf('/');
        JsonNode parent = stored.at(place.substring(0, slash));
        JsonNode changed = new ObjectMapper().readTree(value);
        if (parent instanceof ArrayNode array) {
            array.set(Integer.parseInt(place.substring(slash + 1)), changed);
        } else {
            ((ObjectNode) parent).set(place.substring(slash + 1), changed);
        }
        Path file = Files.writeString(
                folder.resolve("changed.json"), stored.toString().replace("\"Infinity\"", "1e999"));
        assertThatThrownBy(() -> check(LLAMA, file))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(words);
    }

    @Test
    void aTraceWithoutAFieldOrWithoutStepsOrOfNoJsonIsRefused() throws IOException {
        Path file = folder.resolve("changed.json");
        Files.writeString(file, "{\"steps\":[{\"ids\":[1],\"last_row_logits\":[0.5]}]}");
        assertThatThrownBy(() -> GoldenTrace.read(file))
                .hasMessage(file + ": step 0: next is missing, expected a token id");
        Files.writeString(file, "{}");
        assertThatThrownBy(() -> GoldenTrace.read(file)).hasMessage(file + " has no steps, expected a stored trace");
        Files.writeString(file, "{\"steps\": NaN}");
        assertThatThrownBy(() -> GoldenTrace.read(file))
                .hasMessageStartingWith(file + " is not valid JSON at line 1")
                .hasMessageNotContaining("enable");
        assertThatThrownBy(() -> GoldenTrace.read(folder.resolve("none")))
                .hasMessage(folder.resolve("none") + " cannot be read: there is no such file");
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
        Float64Model model = Float64Model.of(checkpoint, checkpoint.config().contextLength());
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
