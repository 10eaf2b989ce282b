package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * The contract's sums: cut the index range at multiples of {@link #SIZE}, sum each slice left to right from {@code 0f}, then
 * sum the slices left to right from {@code 0f}. A first kernel gives each slice to a work item, a second one adds them up.
 */
public final class Slices {
    /** Indices at absolute multiples of this begin a new slice. */
    public static final int SIZE = 128;

    private Slices() {}

    /** Slices of a sum over {@code length} terms. */
    public static int count(int length) {
        return (length + SIZE - 1) / SIZE;
    }

    /** The slice sums {@code sums[first], sums[first + stride], …}, added up. */
    static float total(FloatArray sums, int first, int stride, int slices) {
        float total = 0f;
        for (int slice = 0; slice < slices; slice++) {
            total += sums.get(first + slice * stride);
        }
        return total;
    }
}
