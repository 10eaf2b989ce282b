package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.memory.KernelArguments;
import java.lang.foreign.MemorySegment;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** A matrix as kernels take it: an array of floats and one of words, of which the format says which is read. */
record KernelMatrix(int format, FloatArray floats, IntArray words, FloatArray scales, FloatArray powers) {
    static KernelMatrix of(HostMatrix original) {
        HostMatrix matrix = original.rowMajor();
        DType dtype = matrix.dtype();
        int format = KernelArguments.format(dtype, Backend.VIRTUAL);
        return new KernelMatrix(
                format,
                dtype == DType.F32 ? FloatArray.fromSegment(matrix.elements()) : new FloatArray(1),
                dtype == DType.F32 ? new IntArray(1) : words(matrix.elements()),
                dtype == DType.INT8 ? FloatArray.fromSegment(matrix.scales()) : new FloatArray(1),
                WeightFormat.powers(format));
    }

    private static IntArray words(MemorySegment elements) {
        IntArray words = new IntArray(Math.toIntExact(Math.ceilDiv(elements.byteSize(), Integer.BYTES)));
        words.getSegment().copyFrom(elements);
        return words;
    }
}
