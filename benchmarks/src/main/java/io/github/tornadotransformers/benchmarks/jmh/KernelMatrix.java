package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.memory.KernelArguments;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** A matrix as kernels take it: an array of every kind, of which the format says which is read. */
record KernelMatrix(
        int format, FloatArray floats, ShortArray shorts, ByteArray bytes, FloatArray scales, FloatArray powers) {
    static KernelMatrix of(HostMatrix original) {
        HostMatrix matrix = original.rowMajor();
        DType dtype = matrix.dtype();
        int format = KernelArguments.format(dtype);
        boolean wide = dtype == DType.BF16 || dtype == DType.F16;
        return new KernelMatrix(
                format,
                dtype == DType.F32 ? FloatArray.fromSegment(matrix.elements()) : new FloatArray(1),
                wide ? ShortArray.fromSegment(matrix.elements()) : new ShortArray(1),
                dtype == DType.INT8 ? ByteArray.fromSegment(matrix.elements()) : new ByteArray(1),
                dtype == DType.INT8 ? FloatArray.fromSegment(matrix.scales()) : new FloatArray(1),
                WeightFormat.powers(format));
    }
}
