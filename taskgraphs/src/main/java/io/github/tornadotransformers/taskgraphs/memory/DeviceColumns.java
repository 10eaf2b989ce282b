package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Neighbouring columns of one format of a matrix whose tensors are kept as they are stored, as kernels take them.
 *
 * @param firstColumn which of the matrix's is their first
 * @param floats those of all columns and layers, as are {@code words}
 * @param places where those of each layer begin
 * @param format one of {@link io.github.tornadotransformers.kernels.StoredFormat}
 */
public record DeviceColumns(
        Scalar<Integer> firstColumn,
        Scalar<Integer> columns,
        Argument<FloatArray> floats,
        Argument<IntArray> words,
        Argument<FloatArray> powers,
        Argument<IntArray> places,
        Scalar<Integer> format) {}
