package io.github.tornadotransformers.taskgraphs.memory;

import java.util.List;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * A matrix as kernels take it: an array of every kind, of which the format says which is read.
 *
 * @param format one of {@link io.github.tornadotransformers.kernels.WeightFormat}
 */
public record DeviceMatrix(
        int format, FloatArray floats, ShortArray shorts, ByteArray bytes, FloatArray scales, FloatArray powers) {
    public List<TornadoNativeArray> arrays() {
        return List.of(floats, shorts, bytes, scales, powers);
    }
}
