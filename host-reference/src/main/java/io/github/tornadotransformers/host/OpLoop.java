package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Op;

/** An Op of one layer, bound to its weights: the one place that knows which loop of {@link HostOps} runs an Op. */
@FunctionalInterface
public interface OpLoop {
    /** Runs the Op on an engine's loops. */
    void run(HostOps ops, OpRows at);

    /** Looks the weights up once. */
    static OpLoop of(Op op, OpWeights weights) {
        int width = op.output().width();
        return switch (op) {
            case Op.TokenEmbedding embedding -> {
                HostMatrix table = weights.matrix(embedding.table());
                yield (ops, at) -> ops.tokenEmbedding(table, embedding.scale(), at.tokens(), at.rows(), at.output());
            }
            case Op.PositionEmbedding embedding -> {
                float[] table = weights.vector(embedding.table());
                yield (ops, at) -> ops.positionEmbedding(table, at.batch(), width, at.output());
            }
            case Op.LayerNorm norm -> {
                float[] weight = weights.vector(norm.weight());
                float[] bias = weights.vector(norm.bias());
                yield (ops, at) ->
                        ops.layerNorm(at.input(), weight, bias, norm.epsilon(), at.rows(), width, at.output());
            }
            case Op.RmsNorm norm -> {
                float[] weight = weights.vector(norm.weight());
                yield (ops, at) -> ops.rmsNorm(
                        norm.groups(),
                        norm.isInPlace() ? at.output() : at.input(),
                        weight,
                        norm.epsilon(),
                        norm.residual(),
                        at.rows(),
                        at.output());
            }
            case Op.Linear linear -> {
                HostMatrix weight = weights.matrix(linear.weight());
                float[] bias = linear.bias().map(weights::vector).orElse(null);
                yield (ops, at) -> ops.linear(
                        at.input(), weight, bias, linear.activation(), linear.residual(), at.rows(), at.output());
            }
            case Op.Rotary rotary -> (ops, at) -> ops.rotary(rotary.shape(), rotary.table(), at.batch(), at.output());
            case Op.CacheAppend append -> (ops, at) -> ops.cacheAppend(append.shape(), at.batch(), at.input());
            case Op.AttentionScores scores ->
                (ops, at) -> ops.attentionScores(scores.shape(), scores.scaling(), at.batch(), at.input(), at.output());
            case Op.Softmax softmax -> (ops, at) -> ops.softmax(softmax.shape(), at.batch(), at.output());
            case Op.AttentionOutput attention ->
                (ops, at) -> ops.attentionOutput(attention.shape(), at.batch(), at.input(), at.output());
            case Op.GatedMlp mlp ->
                (ops, at) -> ops.gatedMlp(mlp.activation(), at.input(), at.rows(), width, at.output());
            case Op.Scale scale -> (ops, at) -> ops.scale(scale.scaling(), at.rows() * width, at.output());
            case Op.SelectRows _ -> (_, at) -> selectRows(at, width);
        };
    }

    private static void selectRows(OpRows at, int width) {
        for (int r = 0; r < at.rows(); r++) {
            System.arraycopy(at.input(), at.selected()[r] * width, at.output(), r * width, width);
        }
    }
}
