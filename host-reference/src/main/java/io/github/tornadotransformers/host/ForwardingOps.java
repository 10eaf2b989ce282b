package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;

/** Hands every Op on to another implementation; a subclass changes the one it wants changed. */
public abstract class ForwardingOps implements HostOps {
    private final HostOps delegate;

    protected ForwardingOps(HostOps delegate) {
        this.delegate = delegate;
    }

    /** Where the next Op goes. */
    protected HostOps delegate() {
        return delegate;
    }

    @Override
    public void tokenEmbedding(HostMatrix table, int[] tokens, int rows, float[] out) {
        delegate().tokenEmbedding(table, tokens, rows, out);
    }

    @Override
    public void positionEmbedding(float[] table, int firstPosition, int rows, int width, float[] out) {
        delegate().positionEmbedding(table, firstPosition, rows, width, out);
    }

    @Override
    public void layerNorm(float[] x, float[] weight, float[] bias, float epsilon, int rows, int width, float[] out) {
        delegate().layerNorm(x, weight, bias, epsilon, rows, width, out);
    }

    @Override
    public void rmsNorm(float[] x, float[] weight, float epsilon, int rows, int width, float[] out) {
        delegate().rmsNorm(x, weight, epsilon, rows, width, out);
    }

    @Override
    public void linear(
            float[] x,
            HostMatrix weight,
            float[] bias,
            Activation activation,
            boolean addsToOutput,
            int rows,
            float[] out) {
        delegate().linear(x, weight, bias, activation, addsToOutput, rows, out);
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, int firstPosition, int rows, float[] qkv) {
        delegate().rotary(shape, table, firstPosition, rows, qkv);
    }

    @Override
    public void cacheAppend(
            AttentionShape shape, float[] qkv, int firstPosition, int rows, float[] keys, float[] values) {
        delegate().cacheAppend(shape, qkv, firstPosition, rows, keys, values);
    }

    @Override
    public void attentionScores(
            AttentionShape shape, float scale, float[] qkv, float[] keys, int firstPosition, int rows, float[] scores) {
        delegate().attentionScores(shape, scale, qkv, keys, firstPosition, rows, scores);
    }

    @Override
    public void softmax(AttentionShape shape, int firstPosition, int rows, float[] scores) {
        delegate().softmax(shape, firstPosition, rows, scores);
    }

    @Override
    public void attentionOutput(
            AttentionShape shape, float[] probabilities, float[] values, int firstPosition, int rows, float[] out) {
        delegate().attentionOutput(shape, probabilities, values, firstPosition, rows, out);
    }

    @Override
    public void swiGlu(float[] gateUp, int rows, int width, float[] out) {
        delegate().swiGlu(gateUp, rows, width, out);
    }

    @Override
    public void close() {
        delegate().close();
    }
}
