package io.github.tornadotransformers.models.program;

/** What is applied element by element, in float32: to a linear layer's sum and bias, or to the gate of a gated MLP. */
public enum Activation {
    NONE,

    /** {@code x sigmoid(x)}, arXiv:1702.03118. */
    SILU,

    /** {@code x / (1 + exp(-2u))}, {@code u = sqrt(2/pi) (x + 0.044715 x^3)}: the tanh form of GELU, arXiv:1606.08415. */
    GELU_TANH,

    /** {@code x/2 (1 + erf(x / sqrt(2)))}: GELU itself, arXiv:1606.08415. */
    GELU_ERF
}
