package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Scaling;

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
