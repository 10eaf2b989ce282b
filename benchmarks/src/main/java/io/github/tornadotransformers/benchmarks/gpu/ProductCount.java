package io.github.tornadotransformers.benchmarks.gpu;

import io.github.tornadotransformers.kernels.StoredFormat;
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

    /** Of {@code StoredKernels.sliceSums} for blocks, whatever the backend. */
    static ProductCount ofLoopOfBlocks(int format) {
        double perWeight = switch (StoredFormat.bits(format)) {
            case 4 -> StoredFormat.hasMinimum(format) ? 20.0 : 17.6;
            case 5 -> 26.0;
            case 6 -> 27.5;
            default -> 13.6;
        };
        return new ProductCount(perWeight, 4, 32);
    }

    /** Of {@code StoredGroupKernels.sliceSums}, for blocks: Q4_K, Q4_1 and Q4_0, Q5_K, Q5_1 and Q5_0, Q6_K, Q8_0. */
    static ProductCount ofBlocks(int format, Backend backend) {
        boolean ptx = backend == Backend.PTX;
        boolean isTwoLevel = StoredFormat.isTwoLevel(format);
        return switch (StoredFormat.bits(format)) {
            case 4 ->
                isTwoLevel
                        ? new ProductCount(ptx ? 6.7 : 5.4, 14, 40)
                        : StoredFormat.hasMinimum(format)
                                ? new ProductCount(ptx ? 5.5 : 5.1, 12, 44)
                                : new ProductCount(ptx ? 6.0 : 5.7, 10, ptx ? 32 : 44);
            case 5 ->
                isTwoLevel
                        ? new ProductCount(ptx ? 9.8 : 8.6, 16, ptx ? 64 : 56)
                        : StoredFormat.hasMinimum(format)
                                ? new ProductCount(ptx ? 8.5 : 8.1, 14, ptx ? 61 : 54)
                                : new ProductCount(ptx ? 9.1 : 8.9, 12, 55);
            case 6 -> new ProductCount(ptx ? 11.4 : 9.7, 20, 56);
            default -> new ProductCount(ptx ? 7.5 : 4.5, 18, 40);
        };
    }
}
