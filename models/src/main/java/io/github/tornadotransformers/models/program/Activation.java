package io.github.tornadotransformers.models.program;

/** What a linear layer applies to its sum and bias, element by element, in float32. */
public enum Activation {
    NONE,

    /** {@code x / (1 + exp(-2u))}, {@code u = sqrt(2/pi) (x + 0.044715 x^3)}: the tanh form of GELU, arXiv:1606.08415. */
    GELU_TANH
}
