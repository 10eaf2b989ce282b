package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Bits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both host engines against float64 traces of an independent implementation. */
class GoldenTraceTest {
    private static final double RTOL = 3e-4;
    private static final double ATOL = 3e-4;

    enum Engine {
        SCALAR,
        VECTOR;

        HostForwardPass open(HostModel model) {
            return model.open(this == SCALAR ? ScalarOps::new : VectorOps::onAllCores);
        }
    }

    static Stream<Arguments> models() {
        return Stream.of("stories260K", "tiny-random-gpt2", "odd-llama")
                .flatMap(model -> Stream.of(Engine.values()).map(engine -> Arguments.of(model, engine)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("models")
    void tracesLogitsAndIds(String name, Engine engine) {
        JsonNode steps = SharedGolden.json(name).get("steps");
        HostModel model = HostModel.load(SharedGolden.model(name));
        try (HostForwardPass pass = engine.open(model)) {
            Residuals residuals = new Residuals(model.program());
            pass.trace(residuals);
            int cached = 0;
            for (JsonNode step : steps) {
                int[] ids = SharedGolden.ints(step.get("ids"));
                residuals.points.clear();
                float[] logits = pass.forward(Arrays.copyOfRange(ids, cached, ids.length), cached);
                cached = ids.length;
                Bits.assertClose("logits", logits, SharedGolden.doubles(step.get("last_row_logits")), RTOL, ATOL);
                assertThat(HostModel.argmax(logits)).isEqualTo(step.get("next").intValue());
                residuals.assertLastRow(step.get("last_row_trace"));
                if (step.has("all_rows_trace")) {
                    residuals.assertAllRows(step.get("all_rows_trace"));
                }
            }
        }
    }

    /** Copies the embeddings and the residual after each branch. */
    private static final class Residuals implements TraceListener {
        private final Program program;
        private final List<float[]> points = new ArrayList<>();

        Residuals(Program program) {
            this.program = program;
        }

        @Override
        public void opFinished(int layer, Op op, int firstPosition, int rows, float[] output) {
            if (program.isTracePoint(op) && op.output().equals(program.residual())) {
                points.add(Arrays.copyOf(output, rows * op.output().width()));
            }
        }

        void assertAllRows(JsonNode expected) {
            assertThat(points).hasSize(expected.size());
            for (int i = 0; i < points.size(); i++) {
                Bits.assertClose("trace point " + i, points.get(i), SharedGolden.doubles(expected.get(i)), RTOL, ATOL);
            }
        }

        void assertLastRow(JsonNode expected) {
            assertThat(points).hasSize(expected.size());
            int width = program.residual().width();
            for (int i = 0; i < points.size(); i++) {
                float[] all = points.get(i);
                float[] last = Arrays.copyOfRange(all, all.length - width, all.length);
                Bits.assertClose("trace point " + i, last, SharedGolden.doubles(expected.get(i)), RTOL, ATOL);
            }
        }
    }

    @ParameterizedTest(name = "{0} cached {1} chunks of {2}")
    @MethodSource("modes")
    void storyOfTwoHundredTokens(Engine engine, boolean cached, int chunkRows) {
        JsonNode golden = SharedGolden.json("stories260K-200");
        HostModel model = HostModel.load(SharedGolden.model("stories260K"));
        try (HostForwardPass pass =
                model.open(engine == Engine.SCALAR ? ScalarOps::new : VectorOps::onAllCores, chunkRows)) {
            int[] expected = SharedGolden.ints(golden.get("greedy_ids"));
            int[] prompt = {expected[0]};
            int[] actual = HostModel.greedy(pass, prompt, expected.length - 1, cached);
            assertThat(actual).containsExactly(Arrays.copyOfRange(expected, 1, expected.length));
        }
    }

    static Stream<Arguments> modes() {
        return Stream.of(
                Arguments.of(Engine.SCALAR, true, 128),
                Arguments.of(Engine.VECTOR, true, 128),
                Arguments.of(Engine.VECTOR, false, 128),
                Arguments.of(Engine.VECTOR, false, 31));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 199})
    void storyLogits(int position) {
        JsonNode golden = SharedGolden.json("stories260K-200");
        HostModel model = HostModel.load(SharedGolden.model("stories260K"));
        int[] ids = SharedGolden.ints(golden.get("greedy_ids"));
        try (HostForwardPass pass = Engine.VECTOR.open(model)) {
            float[] logits = pass.forward(Arrays.copyOf(ids, position + 1), 0);
            double[] expected = SharedGolden.doubles(golden.get("logits_pos" + position));
            Bits.assertClose("logits", logits, expected, RTOL, ATOL);
        }
    }

    @Test
    void sorterSortsAllInputs() {
        HostModel model = HostModel.load(SharedGolden.model("gpt-nano-sort"));
        try (HostForwardPass pass = Engine.VECTOR.open(model)) {
            for (int n = 0; n < 729; n++) {
                int[] letters = new int[6];
                for (int i = 0, rest = n; i < 6; i++, rest /= 3) {
                    letters[i] = rest % 3;
                }
                int[] sorted = letters.clone();
                Arrays.sort(sorted);
                int[] actual = HostModel.greedy(pass, letters, 6, true);
                assertThat(actual).as(Arrays.toString(letters)).containsExactly(sorted);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void sorterHasThePublishedActivations(int sequence) {
        JsonNode golden = SharedGolden.json("gpt-nano-sort-t0-partials");
        HostModel model = HostModel.load(SharedGolden.model("gpt-nano-sort"));
        double[] ids = SharedGolden.base64Floats(golden.get("idx"));
        int rows = ids.length / 3;
        int[] tokens = new int[rows];
        for (int i = 0; i < rows; i++) {
            tokens[i] = (int) ids[sequence * rows + i];
        }
        try (HostForwardPass pass = Engine.VECTOR.open(model)) {
            List<String> checked = new ArrayList<>();
            pass.trace((layer, op, firstPosition, count, output) -> {
                String published = publishedName(layer, op);
                if (published != null) {
                    double[] all = SharedGolden.base64Floats(golden.get(published));
                    int size = all.length / 3;
                    double[] expected = Arrays.copyOfRange(all, sequence * size, (sequence + 1) * size);
                    Bits.assertClose(published, output, expected, RTOL, ATOL);
                    checked.add(published);
                }
            });
            pass.forwardAll(tokens, 0, (position, logits, offset) -> {});
            assertThat(checked)
                    .containsExactly(
                            "x",
                            "ln1",
                            "qkv",
                            "y",
                            "attnResid",
                            "ln2",
                            "gelu",
                            "block0",
                            "block1",
                            "block2",
                            "ln_f",
                            "lm_head");
        }
    }

    private static String publishedName(int layer, Op op) {
        return switch (op.name()) {
            case "positionEmbedding" -> "x";
            case "downProj" -> "block" + layer;
            case "finalNorm" -> "ln_f";
            case "lmHead" -> "lm_head";
            default -> layer == 0 ? publishedNameInFirstBlock(op) : null;
        };
    }

    private static String publishedNameInFirstBlock(Op op) {
        return switch (op.name()) {
            case "attentionNorm" -> "ln1";
            case "qkvProj" -> "qkv";
            case "attentionOutput" -> "y";
            case "oProj" -> "attnResid";
            case "mlpNorm" -> "ln2";
            case "upProj" -> "gelu";
            default -> null;
        };
    }
}
