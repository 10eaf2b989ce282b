package io.github.tornadotransformers.runner.bench;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.ValueLayout;

/** An Op of one layer, bound to its weights and its cache. */
@FunctionalInterface
interface OpLoop {
    void run(HostOps ops, OpRows at);

    /**
     * @param keys of the layer's cache, as are {@code values}; empty where the Op has none
     * @throws IllegalArgumentException if the Op is no loop of an engine's
     */
    static OpLoop of(Op op, Weights weights, int layer, float[] keys, float[] values) {
        int width = op.output().width();
        return switch (op) {
            case Op.TokenEmbedding embedding -> {
                HostMatrix table = matrix(weights, embedding.table(), layer);
                yield (ops, at) -> ops.tokenEmbedding(table, at.tokens(), at.rows(), at.output());
            }
            case Op.PositionEmbedding embedding -> {
                float[] table = vector(weights, embedding.table(), layer);
                yield (ops, at) -> ops.positionEmbedding(table, at.firstPosition(), at.rows(), width, at.output());
            }
            case Op.LayerNorm norm -> {
                float[] weight = vector(weights, norm.weight(), layer);
                float[] bias = vector(weights, norm.bias(), layer);
                yield (ops, at) ->
                        ops.layerNorm(at.input(), weight, bias, norm.epsilon(), at.rows(), width, at.output());
            }
            case Op.RmsNorm norm -> {
                float[] weight = vector(weights, norm.weight(), layer);
                yield (ops, at) -> ops.rmsNorm(at.input(), weight, norm.epsilon(), at.rows(), width, at.output());
            }
            case Op.Linear linear -> {
                HostMatrix weight = matrix(weights, linear.weight(), layer);
                float[] bias =
                        linear.bias().map(each -> vector(weights, each, layer)).orElse(null);
                yield (ops, at) -> ops.linear(
                        at.input(), weight, bias, linear.activation(), linear.addsToOutput(), at.rows(), at.output());
            }
            case Op.Rotary rotary ->
                (ops, at) -> ops.rotary(rotary.shape(), rotary.table(), at.firstPosition(), at.rows(), at.output());
            case Op.CacheAppend append ->
                (ops, at) -> ops.cacheAppend(append.shape(), at.input(), at.firstPosition(), at.rows(), keys, values);
            case Op.AttentionScores scores ->
                (ops, at) -> ops.attentionScores(
                        scores.shape(), scores.scale(), at.input(), keys, at.firstPosition(), at.rows(), at.output());
            case Op.Softmax softmax ->
                (ops, at) -> ops.softmax(softmax.shape(), at.firstPosition(), at.rows(), at.output());
            case Op.AttentionOutput attention ->
                (ops, at) -> ops.attentionOutput(
                        attention.shape(), at.input(), values, at.firstPosition(), at.rows(), at.output());
            case Op.SwiGlu _ -> (ops, at) -> ops.swiGlu(at.input(), at.rows(), width, at.output());
            case Op.SelectRows _ -> throw new IllegalArgumentException(op.name() + " only copies rows");
        };
    }

    private static HostMatrix matrix(Weights weights, Weight weight, int layer) {
        return HostMatrix.of(weights.get(weight), layer);
    }

    private static float[] vector(Weights weights, Weight weight, int layer) {
        return weights.get(weight).layer(layer).toArray(ValueLayout.JAVA_FLOAT);
    }
}
