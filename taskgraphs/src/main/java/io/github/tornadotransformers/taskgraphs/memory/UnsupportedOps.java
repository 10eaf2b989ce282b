package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;

/** What programs may ask for that has no kernel. */
final class UnsupportedOps {
    private UnsupportedOps() {}

    /** @throws DeviceException naming an Op that has no kernel */
    static void refuse(Program program) {
        if (program.kinds().size() > 1) {
            throw new DeviceException("a model whose layers differ cannot run on a device yet: use -e host");
        }
        program.ops().stream().filter(UnsupportedOps::isUnsupported).findFirst().ifPresent(op -> {
            throw new DeviceException("Op " + op.name() + " of this model has no kernel yet: use -e host");
        });
    }

    private static boolean isUnsupported(Op op) {
        return switch (op) {
            case Op.TokenEmbedding embedding -> embedding.scale() != 1f;
            case Op.RmsNorm norm -> norm.isInPlace() || norm.residual().adds();
            case Op.Linear linear ->
                linear.residual().scale() != 1f
                        || linear.activation() != Activation.NONE && linear.activation() != Activation.GELU_TANH;
            case Op.Rotary rotary ->
                2 * rotary.table().pairs() != rotary.shape().headDim();
            case Op.AttentionScores scores ->
                scores.scaling().isCapped() || scores.shape().window() != AttentionShape.EVERYTHING;
            case Op.GatedMlp mlp -> mlp.activation() != Activation.SILU;
            case Op.Scale _ -> true;
            case Op.PositionEmbedding _,
                    Op.LayerNorm _,
                    Op.CacheAppend _,
                    Op.Softmax _,
                    Op.AttentionOutput _,
                    Op.SelectRows _ -> false;
        };
    }
}
