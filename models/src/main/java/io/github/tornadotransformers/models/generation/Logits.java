package io.github.tornadotransformers.models.generation;

/** What sampling and perplexity need of one position's logits. */
public final class Logits {
    private Logits() {}

    /** @throws NonFiniteLogitException naming the first NaN or infinity in {@code logits[offset .. offset + count)} */
    public static void requireFinite(float[] logits, int offset, int count, int position) {
        for (int i = 0; i < count; i++) {
            float logit = logits[offset + i];
            if (!Float.isFinite(logit)) {
                throw new NonFiniteLogitException(i, position, logit);
            }
        }
    }

    /** The index of the largest of the first {@code count} values, the lowest where several are. */
    public static int argmax(float[] logits, int count) {
        int best = 0;
        for (int i = 1; i < count; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }

    /** {@code -ln softmax(logits[offset .. offset + count))[target]} in nats, in double. */
    static double negativeLogLikelihood(float[] logits, int offset, int count, int target) {
        double max = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            max = Math.max(max, logits[offset + i]);
        }
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += StrictMath.exp(logits[offset + i] - max);
        }
        return StrictMath.log(sum) + max - logits[offset + target];
    }
}
