package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * A matrix as kernels take it: an array of floats and one of words, of which the format says which is read.
 *
 * @param format one of {@link io.github.tornadotransformers.kernels.WeightFormat}
 */
public record DeviceMatrix(
        Argument<FloatArray> floats,
        Argument<IntArray> words,
        Argument<FloatArray> scales,
        Argument<FloatArray> powers,
        Scalar<Integer> format) {}
