package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run of two steps of two windows against numbers that PyTorch computed in float64: {@code two-steps.py}, beside
 * {@code two-steps.json}, made them and says how to make them again. They depend on which windows a step sees, on the scale of
 * their gradients, on clipping (both gradients are longer than the largest norm), on the optimizer and on what decays.
 */
class TwoStepsTest {
    private static final int CONTEXT = 8;
    private static final int WINDOWS = 2;
    private static final Gpt2Config CONFIG = new Gpt2Config(new Sizes(290, CONTEXT, 8, 16, 2), 2, 1e-5f, true, true);
    private static final TrainingSettings SETTINGS =
            new TrainingSettings(2, CONTEXT, WINDOWS, 0.02, 0.002, 2, 0.1, 0.9, 0.95, 1e-3, 0.5, 100, 3);

    /** Of float32 with float64. */
    private static final double TOLERANCE = 2e-6;

    @TempDir
    private Path folder;

    private JsonNode golden;
    private TrainingText text;
    private Trainer trainer;

    @BeforeEach
    void begin() throws IOException {
        try (InputStream file = TwoStepsTest.class.getResourceAsStream("two-steps.json")) {
            golden = new ObjectMapper().readTree(file);
        }
        TinyTraining tiny = new TinyTraining(folder);
        text = TrainingText.of(tiny.text(), tiny.tokenizer(), 0.1, CONTEXT);
        Program program = CONFIG.program(CONTEXT);
        GradientPass pass = TinyTraining.pass(firstWeights(program), program, new ScalarOps(), new ScalarBackwardOps());
        trainer = new Trainer(pass, text, SETTINGS);
    }

    private static ParameterArrays firstWeights(Program program) {
        ParameterArrays weights = new ParameterArrays(program);
        int index = 0;
        for (Weight weight : weights.weights()) {
            double middle = weight.name().endsWith("NormWeight") ? 1 : 0;
            for (int layer = 0; layer < weight.layers(); layer++) {
                float[] values = weights.layer(weight, layer);
                for (int i = 0; i < values.length; i++) {
                    int row = i / weight.columns();
                    int column = i % weight.columns();
                    double angle = 1.7 * index + 0.9 * layer + 0.31 * row + 0.57 * column + 0.11 * row * column;
                    values[i] = (float) (0.3 * Math.sin(angle) + middle);
                }
            }
            index++;
        }
        return weights;
    }

    private static List<Integer> ids(JsonNode array) {
        List<Integer> ids = new ArrayList<>();
        array.forEach(id -> ids.add(id.intValue()));
        return ids;
    }

    @Test
    void theWindowsAreThoseOfTheSeed() {
        WindowSampler sampler = text.trainingWindows(CONTEXT, SETTINGS.seed());
        List<List<Integer>> expected = new ArrayList<>();
        golden.get("windows").forEach(window -> expected.add(ids(window)));
        assertThat(IntStream.range(0, 2 * WINDOWS)
                        .mapToObj(i -> IntStream.of(sampler.window(i)).boxed().toList()))
                .isEqualTo(expected);
    }

    @Test
    void twoStepsAreThoseOfAnIndependentImplementation() {
        List<Trainer.Step> steps = new ArrayList<>();
        trainer.run(
                2,
                new Trainer.Observer() {
                    @Override
                    public void stepped(Trainer trainer, Trainer.Step step) {
                        steps.add(step);
                    }

                    @Override
                    public void evaluated(Trainer trainer, LossHistory.Validation validation, boolean best) {
                        close("validation loss", validation.loss(), golden.get("validationLoss"));
                    }
                },
                () -> false);
        assertThat(trainer.history().validation()).hasSize(1);
        assertThat(steps).hasSize(2);
        for (Trainer.Step step : steps) {
            JsonNode expected = golden.get("steps").get(step.index() - 1);
            close("loss of step " + step.index(), step.loss(), expected.get("loss"));
            close("gradient of step " + step.index(), step.gradientNorm(), expected.get("gradientNorm"));
            assertThat(step.gradientNorm()).isGreaterThan(SETTINGS.maxNorm());
        }
        assertThat(trainer.weights().weights())
                .extracting(Weight::name)
                .containsExactlyElementsOf(() -> golden.get("weights").fieldNames());
        for (Weight weight : trainer.weights().weights()) {
            JsonNode expected = golden.get("weights").get(weight.name());
            double sum = 0;
            double squares = 0;
            for (int layer = 0; layer < weight.layers(); layer++) {
                for (float value : trainer.weights().layer(weight, layer)) {
                    sum += value;
                    squares += (double) value * value;
                }
            }
            assertThat(sum).as(weight.name()).isCloseTo(expected.get("sum").doubleValue(), within(1e-4));
            close(weight.name(), Math.sqrt(squares), expected.get("l2"));
            float[] values = trainer.weights().layer(weight, weight.layers() - 1);
            for (int i = 0; i < 4; i++) {
                assertThat((double) values[values.length - 4 + i])
                        .as(weight.name())
                        .isCloseTo(expected.get("last").get(i).doubleValue(), within(TOLERANCE));
            }
        }
    }

    private static void close(String what, double found, JsonNode expected) {
        double value = expected.doubleValue();
        assertThat(found).as(what).isCloseTo(value, within(TOLERANCE * Math.abs(value)));
    }
}
