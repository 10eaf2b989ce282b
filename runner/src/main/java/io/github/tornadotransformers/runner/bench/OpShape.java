package io.github.tornadotransformers.runner.bench;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.Optional;

/**
 * What an {@link OpCase} runs.
 *
 * @param dtype of its matrix
 * @param copies layers that it has weights and a cache for
 * @param cacheBytes of the processor
 */
public record OpShape(Op op, DType dtype, OpCost cost, int rows, int firstPosition, int copies, long cacheBytes)
        implements KernelShape {
    /** Data of so many times the last-level cache comes from memory each time. */
    static final int STREAMED_CACHES = 2;

    /**
     * @param program of the model, whose cache holds the positions
     * @param rows at positions {@code firstPosition, firstPosition + 1, …}
     * @param cacheBytes of the processor
     */
    static OpShape of(Program program, Op op, DType dtype, int rows, int firstPosition, long cacheBytes) {
        OpCost cost = OpCost.of(op, dtype, rows, firstPosition);
        int copies = copies(program, op, dtype, cost, cacheBytes);
        return new OpShape(withLayers(op, copies), dtype, cost, rows, firstPosition, copies, cacheBytes);
    }

    /** As many as leave the processor's cache if the whole model does, else as the model has. */
    private static int copies(Program program, Op op, DType dtype, OpCost cost, long cacheBytes) {
        long streamed = STREAMED_CACHES * cacheBytes;
        boolean grows = op instanceof Op.Linear || op instanceof Op.AttentionScores || op instanceof Op.AttentionOutput;
        if (grows && ProgramCost.modelBytes(program, dtype) + program.cacheBytes() >= streamed) {
            return Math.toIntExact(Math.ceilDiv(streamed, cost.weightBytes() + cost.cacheBytes()) + 1);
        }
        return program.block().contains(op) ? program.layers() : 1;
    }

    @Override
    public String name() {
        return op.name();
    }

    /** Whether it has a matrix, which may be kept in any type. */
    public static boolean hasMatrix(Op op) {
        return op instanceof Op.Linear || op instanceof Op.TokenEmbedding;
    }

    /** Whether weights and cache come from memory, and not from a processor's cache. */
    public boolean streams() {
        return copies * (cost.weightBytes() + cost.cacheBytes()) >= STREAMED_CACHES * cacheBytes;
    }

    @Override
    public double leastSeconds(Limits limits) {
        return limits.seconds(streams() ? cost.weightBytes() + cost.cacheBytes() : 0, cost.operations());
    }

    @Override
    public String words() {
        String position = " at position " + (firstPosition + rows - 1);
        String numbers = switch (op) {
            case Op.Linear linear ->
                linear.weight().rows() + " x " + linear.weight().columns();
            case Op.TokenEmbedding embedding ->
                embedding.table().rows() + " of " + embedding.table().columns();
            case Op.AttentionScores scores -> words(scores.shape()) + position;
            case Op.Softmax softmax -> words(softmax.shape()) + position;
            case Op.AttentionOutput output -> words(output.shape()) + position;
            case Op.Rotary rotary -> words(rotary.shape());
            case Op.CacheAppend append -> words(append.shape());
            case Op.PositionEmbedding _, Op.LayerNorm _, Op.RmsNorm _, Op.SwiGlu _, Op.SelectRows _ ->
                Integer.toString(op.output().width());
        };
        return rows + " x " + numbers;
    }

    private static String words(AttentionShape shape) {
        return shape.heads() + "/" + shape.kvHeads() + " heads of " + shape.headDim();
    }

    /** The shape of the cache that an Op reads or writes, if it does. */
    static Optional<AttentionShape> cache(Op op) {
        return switch (op) {
            case Op.CacheAppend append -> Optional.of(append.shape());
            case Op.AttentionScores scores -> Optional.of(scores.shape());
            case Op.AttentionOutput output -> Optional.of(output.shape());
            default -> Optional.empty();
        };
    }

    /** The buffer that the Op reads besides its output; none where it works in place. */
    static Optional<Buffer> input(Op op) {
        return switch (op) {
            case Op.LayerNorm norm -> Optional.of(norm.input());
            case Op.RmsNorm norm -> Optional.of(norm.input());
            case Op.Linear linear -> Optional.of(linear.input());
            case Op.CacheAppend append -> Optional.of(append.qkv());
            case Op.AttentionScores scores -> Optional.of(scores.qkv());
            case Op.AttentionOutput output -> Optional.of(output.probabilities());
            case Op.SwiGlu swiGlu -> Optional.of(swiGlu.gateUp());
            case Op.SelectRows select -> Optional.of(select.input());
            case Op.TokenEmbedding _, Op.PositionEmbedding _, Op.Rotary _, Op.Softmax _ -> Optional.empty();
        };
    }

    /** Whether what the output held before matters. */
    static boolean addsToOutput(Op op) {
        return op instanceof Op.PositionEmbedding
                || op instanceof Op.Rotary
                || op instanceof Op.Softmax
                || op instanceof Op.Linear linear && linear.addsToOutput();
    }

    /** The same Op with weights of so many layers. */
    private static Op withLayers(Op op, int layers) {
        return switch (op) {
            case Op.Linear linear ->
                new Op.Linear(
                        linear.name(),
                        linear.input(),
                        withLayers(linear.weight(), layers),
                        linear.bias().map(bias -> withLayers(bias, layers)),
                        linear.activation(),
                        linear.addsToOutput(),
                        linear.output());
            case Op.LayerNorm norm ->
                new Op.LayerNorm(
                        norm.name(),
                        norm.input(),
                        withLayers(norm.weight(), layers),
                        withLayers(norm.bias(), layers),
                        norm.epsilon(),
                        norm.output());
            case Op.RmsNorm norm ->
                new Op.RmsNorm(
                        norm.name(), norm.input(), withLayers(norm.weight(), layers), norm.epsilon(), norm.output());
            default -> op;
        };
    }

    private static Weight withLayers(Weight weight, int layers) {
        return new Weight(weight.name(), layers, weight.rows(), weight.columns(), weight.kind(), weight.parts());
    }
}
