package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.testsupport.RandomData;

/** An activation as programs and as kernels name it. */
record KernelActivation(Activation activation, int kernels) {
    static KernelActivation of(RandomData data) {
        Activation activation = Activation.values()[data.between(0, Activation.values().length - 1)];
        return new KernelActivation(
                activation,
                switch (activation) {
                    case NONE -> LinearKernels.NO_ACTIVATION;
                    case SILU -> LinearKernels.SILU;
                    case GELU_TANH -> LinearKernels.GELU_TANH;
                    case GELU_ERF -> LinearKernels.GELU_ERF;
                });
    }
}
