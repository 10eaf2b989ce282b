package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.training.TrainingSettings;
import io.github.tornadotransformers.training.TrainingState;
import java.util.Map;
import picocli.CommandLine.Option;

/** The options that say how a model learns. */
final class TrainingArguments {
    private static final int DEFAULT_CONTEXT = 1024;
    private static final int DEFAULT_WARMUP = 100;
    private static final int DEFAULT_STEPS = 1000;
    private static final String STEPS = "--steps";

    /** Which option sets which component of {@link TrainingSettings}. */
    private static final Map<String, String> OPTIONS = Map.ofEntries(
            Map.entry("steps", STEPS),
            Map.entry("context", "--context"),
            Map.entry("windowsPerStep", "--batch"),
            Map.entry("learningRate", "--lr"),
            Map.entry("finalLearningRate", "--final-lr"),
            Map.entry("warmupSteps", "--warmup"),
            Map.entry("weightDecay", "--weight-decay"),
            Map.entry("beta1", "--beta1"),
            Map.entry("beta2", "--beta2"),
            Map.entry("epsilon", "--epsilon"),
            Map.entry("maxNorm", "--clip"),
            Map.entry("evaluateEvery", "--eval-every"),
            Map.entry("seed", "--seed"));

    @Option(
            names = STEPS,
            paramLabel = "N",
            description = "steps of the optimizer (default: 1000; with --resume, those of the run)")
    Integer steps;

    @Option(
            names = "--context",
            paramLabel = "N",
            description = "tokens of a window (default: the model's context, at most 1024)")
    Integer context;

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "windows whose gradients a step adds up, one after the other (default: ${DEFAULT-VALUE})")
    int batch = 16;

    @Option(names = "--lr", paramLabel = "X", description = "highest learning rate (default: ${DEFAULT-VALUE})")
    double learningRate = 1e-3;

    @Option(
            names = "--final-lr",
            paramLabel = "X",
            description = "learning rate where the cosine ends (default: a tenth of --lr)")
    Double finalLearningRate;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "steps over which the learning rate rises (default: a tenth of --steps, at most 100)")
    Integer warmup;

    @Option(
            names = "--weight-decay",
            paramLabel = "X",
            description = "of the linear layers' matrices (default: ${DEFAULT-VALUE})")
    double weightDecay = 0.1;

    @Option(names = "--beta1", paramLabel = "X", description = "of AdamW (default: ${DEFAULT-VALUE})")
    double beta1 = 0.9;

    @Option(names = "--beta2", paramLabel = "X", description = "of AdamW (default: ${DEFAULT-VALUE})")
    double beta2 = 0.99;

    @Option(names = "--epsilon", paramLabel = "X", description = "of AdamW (default: ${DEFAULT-VALUE})")
    double epsilon = 1e-8;

    @Option(
            names = "--clip",
            paramLabel = "X",
            description = "longer gradients are scaled down to this norm (default: ${DEFAULT-VALUE})")
    double clip = 1;

    @Option(names = "--seed", paramLabel = "N", description = "of first weights and order (default: ${DEFAULT-VALUE})")
    long seed = 42;

    @Option(
            names = "--validation",
            paramLabel = "X",
            description = "share of the text, from its end, to validate with (default: ${DEFAULT-VALUE})")
    double validation = 0.1;

    @Option(
            names = "--eval-every",
            paramLabel = "N",
            description = "steps between validation losses (default: ${DEFAULT-VALUE})")
    int evalEvery = 100;

    @Option(
            names = "--save-every",
            paramLabel = "N",
            description = "steps between states for --resume (default: ${DEFAULT-VALUE})")
    int saveEvery = 100;

    /** @throws Failure if a value is out of range */
    void requireSensible() {
        requireCount(STEPS, steps());
        requireCount("--batch", batch);
        requireCount("--eval-every", evalEvery);
        requireCount("--save-every", saveEvery);
        requireIn("--lr", learningRate, Math.nextUp(0), Double.MAX_VALUE, "a number above 0");
        requireIn("--clip", clip, Math.nextUp(0), Double.POSITIVE_INFINITY, "a number above 0");
        requireIn("--weight-decay", weightDecay, 0, Double.MAX_VALUE, "a number of at least 0");
        requireIn("--epsilon", epsilon, Float.MIN_NORMAL, 1, "a small number above 0");
        requireIn("--beta1", beta1, 0, Math.nextDown(1), "at least 0 and below 1");
        requireIn("--beta2", beta2, 0, Math.nextDown(1), "at least 0 and below 1");
        requireIn("--validation", validation, 0, 0.9, "0 to 0.9");
        if (finalLearningRate != null) {
            requireIn("--final-lr", finalLearningRate, 0, learningRate, "0 to --lr");
        }
        if (warmup != null && (warmup < 0 || warmup > steps())) {
            throw Failure.usage("--warmup is " + warmup + ", expected 0 to --steps, which is " + steps());
        }
    }

    private static void requireCount(String option, int value) {
        if (value < 1) {
            throw Failure.usage(option + " is " + value + ", expected 1 or more");
        }
    }

    private static void requireIn(String option, double value, double low, double high, String expected) {
        if (!(value >= low && value <= high)) {
            throw Failure.usage(option + " is " + value + ", expected " + expected);
        }
    }

    private int steps() {
        return steps == null ? DEFAULT_STEPS : steps;
    }

    /** Of a run that begins. */
    TrainingSettings settings(int trained) {
        return settings(trained, steps());
    }

    /**
     * The settings that must be those of a run that goes on: its learning rate follows the steps that it began with.
     *
     * @throws Failure if these options are not the run's, or ask for fewer steps
     */
    TrainingSettings settings(int trained, TrainingState state) {
        int begun = state.settings().steps();
        if (steps != null && steps < Math.max(begun, state.steps())) {
            throw Failure.usage(STEPS + " is " + steps + ", and the run "
                    + (steps < state.steps() ? "has taken " + state.steps() : "began with " + begun)
                    + ": it can be trained longer, not shorter; --until stops it earlier");
        }
        return settings(trained, begun);
    }

    /** How many steps a run that goes on takes in all. */
    int goal(TrainingState state) {
        return steps == null ? Math.max(state.settings().steps(), state.steps()) : steps;
    }

    /** The option that sets a component of {@link TrainingSettings}. */
    static String option(String component) {
        return OPTIONS.getOrDefault(component, component);
    }

    /** @param trained the model's own context */
    private TrainingSettings settings(int trained, int steps) {
        int window = context == null ? Math.min(trained, DEFAULT_CONTEXT) : context;
        if (window < 1 || window > trained) {
            throw Failure.usage("--context is " + window + ", expected 1 to " + trained + ", the model's context");
        }
        return new TrainingSettings(
                steps,
                window,
                batch,
                learningRate,
                finalLearningRate == null ? learningRate / 10 : finalLearningRate,
                warmup == null ? Math.min(DEFAULT_WARMUP, steps / 10) : warmup,
                weightDecay,
                beta1,
                beta2,
                epsilon,
                clip,
                evalEvery,
                seed);
    }
}
