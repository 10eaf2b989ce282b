package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/** Descends the loss of a text, step by step, and keeps the weights that predict the validation text best. */
public final class Trainer {
    /** Weights, gradients, and the optimizer's two means. */
    public static final int PARAMETER_COPIES = 4;

    /** A loss so many times worse than that of a model that knows nothing is not coming back. */
    private static final double HOPELESS = 2;

    private final Program program;
    private final TrainingText text;
    private final TrainingSettings settings;
    private final ParameterArrays weights;
    private final ParameterArrays gradients;
    private final AdamW optimizer;
    private final GradientPass pass;
    private final WindowSampler windows;
    private final LossHistory history = new LossHistory();
    private int step;
    private int goal;

    /** What a run tells, and what it leaves behind. */
    public interface Observer {
        /** After each step. */
        void stepped(Trainer trainer, Step step);

        /** The validation text has been measured; {@code best} says whether it was never predicted better. */
        void evaluated(Trainer trainer, LossHistory.Validation validation, boolean best);
    }

    /**
     * @param index of the step, from 1
     * @param loss mean of its windows, before the step
     * @param gradientNorm before clipping
     */
    public record Step(int index, double loss, double gradientNorm, float learningRate) {}

    /**
     * @param pass for sequences of {@code settings.context()}; its weights are trained in place; closed by whoever made it
     */
    public Trainer(GradientPass pass, TrainingText text, TrainingSettings settings) {
        this.pass = pass;
        this.program = pass.program();
        this.text = text;
        this.settings = settings;
        weights = pass.weights();
        gradients = pass.gradients();
        optimizer = new AdamW(program, settings);
        windows = text.trainingWindows(settings.context(), settings.seed());
        goal = settings.steps();
    }

    public Program program() {
        return program;
    }

    public TrainingSettings settings() {
        return settings;
    }

    public ParameterArrays weights() {
        return weights;
    }

    public LossHistory history() {
        return history;
    }

    /** Steps taken so far. */
    public int steps() {
        return step;
    }

    /** Steps after which the run is done: those of the settings, if it was not extended. */
    public int goal() {
        return goal;
    }

    /**
     * Trains longer than the settings say; their learning rate has then come to its end and stays there.
     *
     * @throws IllegalArgumentException if that is less
     */
    public void extendTo(int steps) {
        if (steps < settings.steps()) {
            throw new IllegalArgumentException(steps + " steps, expected at least " + settings.steps());
        }
        goal = steps;
    }

    AdamW optimizer() {
        return optimizer;
    }

    TrainingText text() {
        return text;
    }

    /** Goes on after so many steps; whoever calls has put the weights and the optimizer's state in place. */
    void resumeAt(int steps) {
        step = steps;
    }

    /**
     * Takes steps until {@code lastStep} have been taken in all, or {@code stop} says so.
     *
     * @throws TrainingException if the loss is not finite or grows beyond hope; nothing is told of that step
     */
    public void run(int lastStep, Observer observer, BooleanSupplier stop) {
        while (step < lastStep && !stop.getAsBoolean()) {
            observer.stepped(this, takeStep());
            if (text.hasValidation() && (step % settings.evaluateEvery() == 0 || step == goal)) {
                evaluate(observer);
            }
        }
    }

    private Step takeStep() {
        pass.begin();
        float scale = 1f / settings.tokensPerStep();
        double sum = 0;
        for (int i = 0; i < settings.windowsPerStep(); i++) {
            int[] window = windows.window((long) step * settings.windowsPerStep() + i);
            sum += pass.lossAndGradients(inputs(window), targets(window), scale);
        }
        double loss = sum / settings.tokensPerStep();
        pass.readGradients();
        double norm = gradients.norm();
        requireHope(loss, norm);
        float learningRate = settings.learningRateAt(step);
        float clip = norm > settings.maxNorm() ? (float) (settings.maxNorm() / norm) : 1f;
        optimizer.step(weights, gradients, step, learningRate, clip);
        history.addTraining(loss);
        step++;
        return new Step(step, loss, norm, learningRate);
    }

    private void requireHope(double loss, double norm) {
        double ignorant = Math.log(program.vocabSize());
        double first = history.training().isEmpty() ? loss : history.training().getFirst();
        if (!Double.isFinite(loss) || !Double.isFinite(norm) || loss > HOPELESS * Math.max(ignorant, first)) {
            double before = history.training().isEmpty()
                    ? Double.NaN
                    : history.training().getLast();
            throw new TrainingException(
                    "step " + (step + 1) + " has a loss of " + loss + " and a gradient of norm " + norm
                            + (Double.isNaN(before) ? "" : ", the step before a loss of " + before)
                            + ": training diverges; try a lower learning rate than " + settings.learningRate());
        }
    }

    private void evaluate(Observer observer) {
        LossHistory.Validation before = history.best();
        double loss = validationLoss();
        history.addValidation(step, loss);
        boolean best = before == null || loss < before.loss();
        observer.evaluated(this, history.validation().getLast(), best);
    }

    /** The mean loss of a token of the validation text, cut into windows. */
    double validationLoss() {
        int count = text.validationWindows(settings.context());
        double sum = 0;
        pass.begin();
        for (int i = 0; i < count; i++) {
            int[] window = text.validationWindow(i, settings.context());
            sum += pass.loss(inputs(window), targets(window));
        }
        return sum / ((double) count * settings.context());
    }

    private static int[] inputs(int[] window) {
        return Arrays.copyOf(window, window.length - 1);
    }

    private static int[] targets(int[] window) {
        return Arrays.copyOfRange(window, 1, window.length);
    }
}
