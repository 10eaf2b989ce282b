package io.github.tornadotransformers.models.program;

/**
 * What is done to scores and logits: {@code y = factor * x}, and where there is a cap {@code cap * tanh(y / cap)}, which keeps
 * them within it (a soft cap, arXiv:2408.00118).
 *
 * @param cap above 0; infinite for none
 */
public record Scaling(float factor, float cap) {
    public static Scaling by(float factor) {
        return new Scaling(factor, Float.POSITIVE_INFINITY);
    }

    public Scaling {
        if (!(cap > 0f) || !Float.isFinite(factor)) {
            throw new IllegalArgumentException("a factor of " + factor + " and a cap of " + cap);
        }
    }

    public Scaling capped(float cap) {
        return new Scaling(factor, cap);
    }

    /** {@code 1 / cap}, rounded once: what a value is multiplied by before its tanh. */
    public float inverseCap() {
        return 1f / cap;
    }

    public boolean isCapped() {
        return cap != Float.POSITIVE_INFINITY;
    }

    /** Whether it changes nothing. */
    public boolean isIdentity() {
        return factor == 1f && !isCapped();
    }
}
