package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * A matrix as kernels take it: an array of every kind, of which the format says which is read.
 *
 * @param format one of {@link io.github.tornadotransformers.kernels.WeightFormat}
 */
public record DeviceMatrix(
        Argument<FloatArray> floats,
        Argument<ShortArray> shorts,
        Argument<ByteArray> bytes,
        Argument<FloatArray> scales,
        Argument<FloatArray> powers,
        Scalar<Integer> format) {}
