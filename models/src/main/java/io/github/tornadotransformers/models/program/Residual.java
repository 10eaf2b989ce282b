package io.github.tornadotransformers.models.program;

/**
 * How a branch joins what its output holds: {@code output += scale * y}, or {@code output = y} where it does not.
 *
 * @param adds whether it is added
 * @param scale 1 unless {@code adds}; the product by 1 is exact, so that it may be left out
 */
public record Residual(boolean adds, float scale) {
    /** {@code output = y}. */
    public static final Residual NONE = new Residual(false, 1f);

    /** {@code output += y}. */
    public static final Residual ADD = new Residual(true, 1f);

    public Residual {
        if (!adds && scale != 1f) {
            throw new IllegalArgumentException("only what is added has a scale, found " + scale);
        }
    }

    /** {@code output += scale * y}. */
    public static Residual scaled(float scale) {
        return new Residual(true, scale);
    }

    Effect effect() {
        return adds ? Effect.ADDS : Effect.OVERWRITES;
    }
}
