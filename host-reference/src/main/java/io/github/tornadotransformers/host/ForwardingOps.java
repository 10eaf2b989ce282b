package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;

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
    public void tokenEmbedding(HostMatrix table, float scale, int[] tokens, int rows, float[] out) {
        delegate().tokenEmbedding(table, scale, tokens, rows, out);
    }

    @Override
    public void positionEmbedding(float[] table, BatchRows rows, int width, float[] out) {
        delegate().positionEmbedding(table, rows, width, out);
    }

    @Override
    public void layerNorm(float[] x, float[] weight, float[] bias, float epsilon, int rows, int width, float[] out) {
        delegate().layerNorm(x, weight, bias, epsilon, rows, width, out);
    }

    @Override
    public void rmsNorm(
            Groups groups, float[] x, float[] weight, float epsilon, Residual residual, int rows, float[] out) {
        delegate().rmsNorm(groups, x, weight, epsilon, residual, rows, out);
    }

    @Override
    public void linear(
            float[] x,
            HostMatrix weight,
            float[] bias,
            Activation activation,
            Residual residual,
            int rows,
            float[] out) {
        delegate().linear(x, weight, bias, activation, residual, rows, out);
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, BatchRows rows, float[] qkv) {
        delegate().rotary(shape, table, rows, qkv);
    }

    @Override
    public void cacheAppend(AttentionShape shape, BatchRows rows, float[] qkv) {
        delegate().cacheAppend(shape, rows, qkv);
    }

    @Override
    public void attentionScores(AttentionShape shape, Scaling scaling, BatchRows rows, float[] qkv, float[] scores) {
        delegate().attentionScores(shape, scaling, rows, qkv, scores);
    }

    @Override
    public void softmax(AttentionShape shape, BatchRows rows, float[] scores) {
        delegate().softmax(shape, rows, scores);
    }

    @Override
    public void attentionOutput(AttentionShape shape, BatchRows rows, float[] probabilities, float[] out) {
        delegate().attentionOutput(shape, rows, probabilities, out);
    }

    @Override
    public void gatedMlp(Activation activation, float[] gateUp, int rows, int width, float[] out) {
        delegate().gatedMlp(activation, gateUp, rows, width, out);
    }

    @Override
    public void scale(Scaling scaling, int count, float[] x) {
        delegate().scale(scaling, count, x);
    }

    @Override
    public void close() {
        delegate().close();
    }
}
