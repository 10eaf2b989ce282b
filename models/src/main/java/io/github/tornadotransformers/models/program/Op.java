package io.github.tornadotransformers.models.program;

import java.util.Optional;

/**
 * One step of a forward pass. The interface is sealed so that an interpreter or a task-graph builder that switches over it
 * without {@code default} is rejected by the compiler until it knows every Op.
 *
 * <p>Shapes: a buffer is {@code [rows][width]}; {@code r} is a row, and {@code position(r)} is the place of its token in
 * the text. What each Op computes, and in which order, is defined by the arithmetic contract and by {@code ScalarOps}.
 */
public sealed interface Op {
    /** Unique within its program; what a trace, a task and an error message call this Op. */
    String name();

    /** The buffer this Op writes, or adds to. */
    Buffer output();

    /** {@code output[r][i] = table[i][token(r)]}; the table is {@code [hiddenSize][vocabSize]}, as the head reads it. */
    record TokenEmbedding(String name, Weight table, Buffer output) implements Op {}

    /** {@code output[r][i] += table[position(r)][i]}. */
    record PositionEmbedding(String name, Weight table, Buffer output) implements Op {}

    /** {@code output[r][i] = (x - mean) / sqrt(variance + epsilon) * weight[i] + bias[i]}, arXiv:1607.06450. */
    record LayerNorm(String name, Buffer input, Weight weight, Weight bias, float epsilon, Buffer output)
            implements Op {}

    /** {@code output[r][i] = weight[i] * x[r][i] / sqrt(mean(x[r]^2) + epsilon)}, arXiv:1910.07467. */
    record RmsNorm(String name, Buffer input, Weight weight, float epsilon, Buffer output) implements Op {}

    /**
     * {@code y[r][c] = activation(sum_k input[r][k] weight[k][c] + bias[c])}; {@code output = y}, or {@code output += y}
     * where this Op closes a residual branch.
     */
    record Linear(
            String name,
            Buffer input,
            Weight weight,
            Optional<Weight> bias,
            Activation activation,
            boolean addsToOutput,
            Buffer output)
            implements Op {}

    /** Rotates the query and key heads of {@code output = qkv} in place by the row's position. */
    record Rotary(String name, AttentionShape shape, RotaryTable table, Buffer output) implements Op {}

    /** Stores the row's keys and values in the layer's cache, at the row's position. Writes no buffer of its own. */
    record CacheAppend(String name, AttentionShape shape, Buffer qkv) implements Op {
        @Override
        public Buffer output() {
            return qkv;
        }
    }

    /** {@code output[r][h][t] = scale * sum_d query[r][h][d] key[t][d]} for {@code t <= position(r)}. */
    record AttentionScores(String name, AttentionShape shape, float scale, Buffer qkv, Buffer output) implements Op {}

    /** Softmax of {@code output[r][h][0..position(r)]}, in place. */
    record Softmax(String name, AttentionShape shape, Buffer output) implements Op {}

    /** {@code output[r][h][d] = sum_{t <= position(r)} probabilities[r][h][t] value[t][d]}. */
    record AttentionOutput(String name, AttentionShape shape, Buffer probabilities, Buffer output) implements Op {}

    /** {@code output[r][i] = silu(gateUp[r][i]) * gateUp[r][width + i]}, arXiv:2002.05202. */
    record SwiGlu(String name, Buffer gateUp, Buffer output) implements Op {}

    /** Copies the rows whose logits are wanted. */
    record SelectRows(String name, Buffer input, Buffer output) implements Op {}
}
