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

    /**
     * Of {@code LinearRowKernels} for blocks, Q4_K, Q4_1 and Q4_0, Q5_K, Q5_1 and Q5_0, Q6_K, Q8_0: all that an item does between a slice's inputs
     * and its sum, for 1024 inputs.
     */
    static ProductCount ofBlocks(int format, Backend backend) {
        boolean ptx = backend == Backend.PTX;
        boolean isTwoLevel = StoredFormat.isTwoLevel(format);
        return switch (StoredFormat.bits(format)) {
            case 4 ->
                isTwoLevel
                        ? new ProductCount(ptx ? 7.6 : 6.3, 14, ptx ? 44 : 70)
                        : StoredFormat.hasMinimum(format)
                                ? new ProductCount(ptx ? 6.4 : 5.8, 12, ptx ? 44 : 48)
                                : new ProductCount(ptx ? 6.4 : 5.9, 10, ptx ? 32 : 48);
            case 5 ->
                isTwoLevel
                        ? new ProductCount(ptx ? 10.7 : 8.8, 16, ptx ? 62 : 127)
                        : StoredFormat.hasMinimum(format)
                                ? new ProductCount(ptx ? 9.5 : 8.3, 14, ptx ? 56 : 94)
                                : new ProductCount(ptx ? 9.5 : 8.5, 12, ptx ? 56 : 94);
            case 6 -> new ProductCount(ptx ? 11.7 : 9.8, 20, ptx ? 60 : 94);
            default -> new ProductCount(ptx ? 7.9 : 4.4, 18, ptx ? 40 : 66);
        };
    }
}
