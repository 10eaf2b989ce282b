package io.github.tornadotransformers.training;

/**
 * What a run depends on, besides the model and the text: the same settings give the same bits.
 *
 * @param context tokens of a window
 * @param windowsPerStep sequences whose mean loss a step descends; they run one after the other
 * @param learningRate at its peak
 * @param finalLearningRate where the cosine ends
 * @param warmupSteps over which the learning rate rises from 0, in a line
 * @param maxNorm gradients of a larger norm (over all weights) are scaled down to it
 * @param evaluateEvery steps between losses of the validation text
 * @param seed of the first weights and of the order of windows
 */
public record TrainingSettings(
        int steps,
        int context,
        int windowsPerStep,
        double learningRate,
        double finalLearningRate,
        int warmupSteps,
        double weightDecay,
        double beta1,
        double beta2,
        double epsilon,
        double maxNorm,
        int evaluateEvery,
        long seed) {
    /** A line up, then half a wave of the cosine down. Source: Loshchilov and Hutter 2017, arXiv:1608.03983. */
    float learningRateAt(int step) {
        if (step < warmupSteps) {
            return (float) (learningRate * (step + 1) / warmupSteps);
        }
        double progress = (double) (step - warmupSteps) / Math.max(1, steps - 1 - warmupSteps);
        double height = 0.5 * (1 + StrictMath.cos(Math.PI * Math.min(1, progress)));
        return (float) (finalLearningRate + (learningRate - finalLearningRate) * height);
    }

    public long tokensPerStep() {
        return (long) context * windowsPerStep;
    }
}
