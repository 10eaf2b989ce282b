package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * What happens to weights and their gradients between sequences, element by element.
 *
 * <p>Shapes: weights, gradients [size].
 *
 * <p>Order: i parallel and contiguous.
 *
 * <p>Error: 0 ulp against the host.
 */
public final class DescentKernels {
    private DescentKernels() {}

    /**
     * gradients[i] = 0.
     *
     * @param weights whose gradients they are; taken along, not read: a graph brings to the device what its tasks take
     * @param one 1, which makes the bound an expression
     */
    public static void begin(FloatArray weights, FloatArray gradients, int one, int size) {
        for (@Parallel int i = 0; i < one * size; i++) {
            gradients.set(i, 0f);
        }
    }

    /**
     * gradients[i] = 0, of activations.
     *
     * @param one 1, which makes the bound an expression
     */
    public static void clear(FloatArray gradients, int one, int size) {
        for (@Parallel int i = 0; i < one * size; i++) {
            gradients.set(i, 0f);
        }
    }

    /**
     * weights[i] += factor[0] * gradients[i].
     *
     * @param factor [1]: the learning rate, negative
     * @param one 1, which makes the bound an expression
     */
    public static void descend(FloatArray factor, FloatArray gradients, FloatArray weights, int one, int size) {
        for (@Parallel int i = 0; i < one * size; i++) {
            weights.set(i, Fused.fma(factor.get(0), gradients.get(i), weights.get(i)));
        }
    }
}
