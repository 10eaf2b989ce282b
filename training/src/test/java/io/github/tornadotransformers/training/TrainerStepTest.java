package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.training.losses.LossHistory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a step hands to the engine, and what it makes of what comes back: an engine whose numbers are known. */
class TrainerStepTest {
    private static final int WINDOWS = 3;
    private static final int STEPS = 4;
    private static final Trainer.Observer NOBODY = new Told();

    @TempDir
    private Path folder;

    private TinyTraining tiny;
    private RecordingPass pass;

    /** Keeps what a run tells. */
    private static final class Told implements Trainer.Observer {
        private final List<Trainer.Step> steps = new ArrayList<>();
        private final List<String> evaluations = new ArrayList<>();

        @Override
        public void stepped(Trainer trainer, Trainer.Step step) {
            steps.add(step);
        }

        @Override
        public void evaluated(Trainer trainer, LossHistory.Validation validation, boolean best) {
            evaluations.add(validation.step() + ": " + validation.loss() + (best ? " best" : ""));
        }
    }

    @BeforeEach
    void makePass() throws IOException {
        tiny = new TinyTraining(folder);
        pass = new RecordingPass(TinyTraining.gpt2().program(TinyTraining.CONTEXT));
    }

    private static TrainingSettings settings(double maxNorm, int evaluateEvery) {
        return new TrainingSettings(
                STEPS, TinyTraining.CONTEXT, WINDOWS, 0.1, 0.1, 0, 0, 0.9, 0.99, 1e-8, maxNorm, evaluateEvery, 1);
    }

    private Trainer trainer(double maxNorm) {
        return new Trainer(pass, tiny.parts(), settings(maxNorm, 100));
    }

    @Test
    void everyWindowOfAStepIsScaledByTheTokensOfAll() {
        trainer(1).run(2, NOBODY, () -> false);
        float scale = 1f / (WINDOWS * TinyTraining.CONTEXT);
        assertThat(pass.scales()).hasSize(2 * WINDOWS).containsOnly(scale);
    }

    /** Those that the sampler gives one after the other: the first step's windows, then the second's. */
    @Test
    void aStepSeesTheNextWindows() {
        Trainer trainer = trainer(1);
        trainer.run(2, NOBODY, () -> false);
        WindowSampler sampler = tiny.parts().trainingWindows(TinyTraining.CONTEXT, 1);
        List<List<Integer>> expected = IntStream.range(0, 2 * WINDOWS)
                .mapToObj(i -> IntStream.of(sampler.window(i)).boxed().toList())
                .toList();
        assertThat(pass.windows()).isEqualTo(expected).doesNotHaveDuplicates();
    }

    @Test
    void theLossIsTheMeanOfAToken() {
        pass.giving(5.0 * TinyTraining.CONTEXT, 0.01f);
        Told told = new Told();
        trainer(1).run(1, told, () -> false);
        assertThat(told.steps)
                .singleElement()
                .satisfies(step -> assertThat(step.loss()).isCloseTo(5, within(1e-12)));
    }

    @Test
    void theValidationLossIsTheMeanOfATokenOfAllWholeWindows() {
        TrainingText parts = tiny.parts();
        Trainer trainer = trainer(1);
        pass.giving(32, 0);
        assertThat(trainer.validationLoss()).isCloseTo(32.0 / TinyTraining.CONTEXT, within(1e-12));
        int count = parts.validationWindows(TinyTraining.CONTEXT);
        assertThat(count)
                .isEqualTo((parts.validationTokens() - 1) / TinyTraining.CONTEXT)
                .isGreaterThan(1);
        List<List<Integer>> expected = IntStream.range(0, count)
                .mapToObj(i -> IntStream.of(parts.validationWindow(i, TinyTraining.CONTEXT))
                        .boxed()
                        .toList())
                .toList();
        assertThat(pass.windows()).isEqualTo(expected);
        for (int i = 1; i < count; i++) {
            assertThat(expected.get(i).getFirst()).isEqualTo(expected.get(i - 1).getLast());
        }
    }

    /** The optimizer's mean of gradients is then a tenth of the gradient that it was given. */
    @ParameterizedTest
    @CsvSource({
        "1, 0.5, 0.5",
        "1, 4, 1",
        "0.25, 0.5, 0.25",
        "0.25, 0.2, 0.2",
        "3, 4, 3",
        "3, 2, 2",
        "3, -6, -3",
        "Infinity, 4, 4"
    })
    void longerGradientsAreScaledToTheNorm(double maxNorm, float gradient, float expected) {
        pass.giving(1, gradient / WINDOWS);
        Trainer trainer = trainer(maxNorm);
        Told told = new Told();
        trainer.run(1, told, () -> false);
        assertThat(told.steps.getFirst().gradientNorm()).isCloseTo(Math.abs(gradient), within(1e-6));
        assertThat(RecordingPass.first(trainer.optimizer().mean())[0]).isCloseTo(0.1f * expected, within(1e-6f));
    }

    /** A number of the gradient, not of the loss, may be the first to be lost. */
    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void aGradientThatIsNotFiniteStopsTheRunThoughTheLossIs(float gradient) {
        Trainer trainer = trainer(1);
        pass.giving(1, 0.5f);
        trainer.run(1, NOBODY, () -> false);
        float[] weights = RecordingPass.first(pass.weights()).clone();
        pass.giving(1, gradient);
        assertThatThrownBy(() -> trainer.run(2, NOBODY, () -> false))
                .isInstanceOf(TrainingException.class)
                .hasMessageMatching(
                        "step 2 has a loss of 0\\.06\\d* and a gradient of norm (NaN|Infinity), .* diverges; .*");
        assertThat(trainer.steps()).isEqualTo(1);
        assertThat(RecordingPass.first(pass.weights())).isEqualTo(weights);
    }

    /** As often as the settings say, and at the end. Equal is not better. */
    @Test
    void theValidationTextIsMeasuredEveryFewStepsAndAtTheEnd() {
        Trainer trainer = new Trainer(pass, tiny.parts(), settings(1, 3));
        trainer.extendTo(8);
        Told told = new Told();
        pass.giving(2 * TinyTraining.CONTEXT, 0.1f);
        trainer.run(6, told, () -> false);
        pass.giving(TinyTraining.CONTEXT, 0.1f);
        trainer.run(8, told, () -> false);
        assertThat(told.evaluations).containsExactly("3: 2.0 best", "6: 2.0", "8: 1.0 best");
        assertThat(trainer.history().validation()).hasSize(3);
    }

    @Test
    void withoutAValidationTextNothingIsMeasured() {
        TrainingText text = TrainingText.of(tiny.text(), tiny.tokenizer(), 0, TinyTraining.CONTEXT);
        Trainer trainer = new Trainer(pass, text, settings(1, 1));
        Told told = new Told();
        trainer.run(STEPS, told, () -> false);
        assertThat(told.steps).hasSize(STEPS);
        assertThat(told.evaluations).isEmpty();
        assertThat(trainer.history().best()).isNull();
    }

    /** Twice what a model that knows nothing has, or twice the first loss where that was worse. */
    @ParameterizedTest
    @CsvSource({"1, 11.33, true", "1, 11.35, false", "8, 16, true", "8, 16.01, false"})
    void aLossTwiceThatOfTheIgnorantIsHopeless(double first, double loss, boolean goesOn) {
        Trainer trainer = trainer(1);
        pass.giving(first * TinyTraining.CONTEXT, 0.1f);
        trainer.run(1, NOBODY, () -> false);
        pass.giving(loss * TinyTraining.CONTEXT, 0.1f);
        if (goesOn) {
            trainer.run(2, NOBODY, () -> false);
            assertThat(trainer.steps()).isEqualTo(2);
        } else {
            assertThatThrownBy(() -> trainer.run(2, NOBODY, () -> false))
                    .isInstanceOf(TrainingException.class)
                    .hasMessageStartingWith("step 2 has a loss of " + loss)
                    .hasMessageContaining("the step before a loss of " + first + ": training diverges");
        }
    }
}
