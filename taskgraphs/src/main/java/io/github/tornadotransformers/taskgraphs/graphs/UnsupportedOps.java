package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What programs may ask for that has no kernel. */
final class UnsupportedOps {
    private UnsupportedOps() {}

    /** @throws DeviceException naming an Op that has no kernel, or a weight that only some kinds of layers have */
    static void refuse(Program program) {
        weightOfSome(program.kinds()).ifPresent(weight -> {
            throw new DeviceException(Wording.of(
                    "only some layers of this model have %s, which a device cannot hold yet: use %s host",
                    weight.name(), Term.ENGINE));
        });
        program.ops().stream().filter(UnsupportedOps::isUnsupported).findFirst().ifPresent(op -> {
            throw new DeviceException(
                    Wording.of("Op %s of this model has no kernel yet: use %s host", op.name(), Term.ENGINE));
        });
    }

    private static Optional<Weight> weightOfSome(List<Block> kinds) {
        return kinds.stream()
                .flatMap(UnsupportedOps::weights)
                .filter(weight ->
                        !kinds.stream().allMatch(block -> weights(block).anyMatch(weight::equals)))
                .findFirst();
    }

    private static Stream<Weight> weights(Block block) {
        return block.ops().stream().flatMap(op -> op.weights().stream());
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
