package io.github.tornadotransformers.benchmarks.gpu;

import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.taskgraphs.devices.Backend;

/**
 * What the product of a row and a matrix was counted to need on sm_90, in the loop over the inputs of a slice: machine instructions in what
 * {@code nvcc -arch=sm_90} and {@code ptxas -v} of CUDA 13.0 make of the kernels that TornadoVM 5.2 generates, for 4096 columns.
 *
 * @param perWeight instructions
 * @param inFlight loads that come before the first use of one
 * @param registers of a work item
 */
record ProductCount(double perWeight, int inFlight, int registers) {
    /** Of {@code LinearKernels.sliceSums}, whatever the backend. */
    static ProductCount ofLoop(int format) {
        return switch (format) {
            case WeightFormat.F32 -> new ProductCount(5.8, 16, 40);
            case WeightFormat.INT8 -> new ProductCount(7.9, 16, 32);
            default -> new ProductCount(20.8, 4, 32);
        };
    }

    /**
     * Of {@code LinearRowKernels}; backends but PTX generate C, as CUDA does. Instructions are those of the same loop where it stood by itself.
     */
    static ProductCount ofRows(int format, Backend backend) {
        boolean ptx = backend == Backend.PTX;
        return switch (format) {
            case WeightFormat.F32 -> new ProductCount(ptx ? 7.6 : 4.9, 32, 56);
            case WeightFormat.INT8 -> ptx ? new ProductCount(7.1, 32, 90) : new ProductCount(3.7, 32, 161);
            case WeightFormat.BF16_BITS -> new ProductCount(3.9, 32, 56);
            default -> ptx ? new ProductCount(15.0, 16, 48) : new ProductCount(15.2, 16, 72);
        };
    }

    /** Of {@code LinearGroupKernels.sliceSumsOfElements}. */
    static ProductCount ofElements(int format, Backend backend) {
        boolean ptx = backend == Backend.PTX;
        return switch (format) {
            case WeightFormat.INT8 -> new ProductCount(ptx ? 18.6 : 11.3, 16, 40);
            case WeightFormat.BF16_BITS -> new ProductCount(10.4, 16, 40);
            default -> ptx ? new ProductCount(27.9, 16, 40) : new ProductCount(21.4, 16, 32);
        };
    }
}
