package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * What a linear layer of a single row does beside its product: the norm before it, its bias and activation, and what becomes of the
 * result. A number from which they are taken apart where a device compiles.
 */
public final class RowSteps {
    /** What becomes of x before it is multiplied. */
    public static final int NO_NORM = 0;

    public static final int LAYER_NORM = 1;
    public static final int RMS_NORM = 2;

    /** What becomes of y. */
    public static final int STORES = 0;

    public static final int ADDS = 1;
    public static final int GATES = 2;

    private static final int ENDING_AT = 3;
    private static final int BIASED_AT = ENDING_AT * 3;
    private static final int ACTIVATION_AT = BIASED_AT * 2;

    private RowSteps() {}

    /**
     * @param norm one of this class
     * @param activation one of {@link LinearKernels}
     * @param ending one of this class
     */
    public static int of(int norm, boolean isBiased, int activation, int ending) {
        return norm + ending * ENDING_AT + (isBiased ? BIASED_AT : 0) + activation * ACTIVATION_AT;
    }

    /** What becomes of x. */
    public static int norm(int steps) {
        return steps % ENDING_AT;
    }

    /** What becomes of y. */
    public static int ending(int steps) {
        return steps / ENDING_AT % 3;
    }

    /** Whether a bias is added. */
    public static boolean isBiased(int steps) {
        return steps / BIASED_AT % 2 == 1;
    }

    /** One of {@link LinearKernels}. */
    public static int activation(int steps) {
        return steps / ACTIVATION_AT;
    }

    /**
     * Stores what becomes of a column's sum.
     *
     * @param y the sum, and {@code up} the one that it is multiplied with, if it is
     * @param of the column's place in {@code bias}, and {@code ofUp} the other's
     */
    static void finish(
            int steps,
            float y,
            float up,
            FloatArray bias,
            int of,
            int ofUp,
            FloatArray out,
            int column,
            float scale,
            int math) {
        float value = y;
        float factor = up;
        if (isBiased(steps)) {
            value = value + bias.get(of);
            if (ending(steps) == GATES) {
                factor = factor + bias.get(ofUp);
            }
        }
        value = KernelMath.activate(math, activation(steps), value);
        if (ending(steps) == ADDS) {
            value = Fused.fma(scale, value, out.get(column));
        }
        if (ending(steps) == GATES) {
            value = value * factor;
        }
        out.set(column, value);
    }
}
