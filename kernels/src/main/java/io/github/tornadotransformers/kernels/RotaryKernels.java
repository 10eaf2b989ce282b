package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Rotary position embedding, arXiv:2104.09864, in Hugging Face's pairing of an element with the one half a head away. */
public final class RotaryKernels {
    private RotaryKernels() {}

    /**
     * (a, b) = (a cos - b sin, b cos + a sin) for every pair of elements (i, i + pairs) of a query or key head.
     *
     * <p>Shapes: angles [2][positions][pairs], cosines then sines, from the host; qkv [rows][(heads + 2 kvHeads) headDim], in place.
     *
     * <p>Order: r, head and pair parallel, pairs contiguous.
     */
    public static void rotatePairs(
            FloatArray angles,
            IntArray step,
            FloatArray qkv,
            int rows,
            int heads,
            int kvHeads,
            int headDim,
            int pairs,
            int positions) {
        for (@Parallel int i = 0; i < rows * (heads + kvHeads) * pairs; i++) {
            int pair = i % pairs;
            int head = i / pairs % (heads + kvHeads);
            int row = i / pairs / (heads + kvHeads);
            if (row < step.get(Step.ROWS)) {
                int angle = step.get(Step.position(row)) * pairs + pair;
                int left = (row * (heads + 2 * kvHeads) + head) * headDim + pair;
                int right = left + pairs;
                float cosine = angles.get(angle);
                float sine = angles.get(positions * pairs + angle);
                float a = qkv.get(left);
                float b = qkv.get(right);
                qkv.set(left, Fused.fma(a, cosine, Fused.product(Fused.negated(b), sine)));
                qkv.set(right, Fused.fma(b, cosine, Fused.product(a, sine)));
            }
        }
    }
}
