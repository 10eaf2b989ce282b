package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.kernels.StoredFormat;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.ColumnType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.taskgraphs.devices.Backend;

/** What a program says, as kernels take it: numbers. */
public final class KernelArguments {
    private KernelArguments() {}

    /** A constant of {@link LinearKernels}. */
    public static int activation(Activation activation) {
        return switch (activation) {
            case NONE -> LinearKernels.NO_ACTIVATION;
            case SILU -> LinearKernels.SILU;
            case GELU_TANH -> LinearKernels.GELU_TANH;
            case GELU_ERF -> LinearKernels.GELU_ERF;
        };
    }

    /** A constant of {@link WeightFormat}, for kernels that a backend compiles. */
    public static int format(DType dtype, Backend backend) {
        return switch (dtype) {
            case F32 -> WeightFormat.F32;
            case BF16 -> backend == Backend.CUDA ? WeightFormat.BF16_BITS : WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
            case INT8 -> WeightFormat.INT8;
            case STORED -> throw new IllegalStateException("tensors are kept apart");
        };
    }

    /** As {@link StoredFormat} has it. */
    public static int format(ColumnType type, Backend backend) {
        return switch (type) {
            case ColumnType.Plain plain -> format(plain.dtype(), backend);
            case ColumnType.Blocks blocks -> {
                BlockFormat format = blocks.format();
                yield StoredFormat.ofBlocks(
                        format.bits(), format.blockRows(), format.groupRows(), format.offset(), format.hasMinimum());
            }
        };
    }

    /** A constant of {@link WeightFormat}. */
    public static int format(KvType type) {
        return switch (type) {
            case F32 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
        };
    }

    /** 0 for none. */
    public static float cap(Scaling scaling) {
        return scaling.isCapped() ? scaling.cap() : 0f;
    }

    /** 1 / cap. */
    public static float inverseCap(Scaling scaling) {
        return scaling.inverseCap();
    }

    /** How many positions a query sees: no more than there are. */
    public static int window(AttentionShape shape) {
        return Math.min(shape.window(), shape.contextLength());
    }
}
