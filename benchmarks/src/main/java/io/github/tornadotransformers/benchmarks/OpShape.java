package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;

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
    static OpShape of(Program program, Op op, MatrixBytes matrices, int rows, int firstPosition, long cacheBytes) {
        OpCost cost = OpCost.of(op, matrices, rows, firstPosition);
        int copies = copies(program, op, matrices, cost, cacheBytes);
        return new OpShape(
                op.withWeights(weight -> weight.withLayers(copies)),
                matrices.dtype(),
                cost,
                rows,
                firstPosition,
                copies,
                cacheBytes);
    }

    /** As many as leave the processor's cache if the whole model does, else as the model has. */
    private static int copies(Program program, Op op, MatrixBytes matrices, OpCost cost, long cacheBytes) {
        long streamed = STREAMED_CACHES * cacheBytes;
        boolean grows = op instanceof Op.Linear || op instanceof Op.AttentionScores || op instanceof Op.AttentionOutput;
        if (grows && ProgramCost.modelBytes(program, matrices) + program.cacheBytes() >= streamed) {
            return Math.toIntExact(Math.ceilDiv(streamed, cost.weightBytes() + cost.cacheBytes()) + 1);
        }
        return isOfBlock(program, op) ? program.layers() : 1;
    }

    private static boolean isOfBlock(Program program, Op op) {
        return program.kinds().stream().anyMatch(block -> block.ops().contains(op));
    }

    @Override
    public String name() {
        return name(op);
    }

    /** The Op's, and the window of attention where it has one: layers of several kinds have Ops of one name that cost unequally. */
    static String name(Op op) {
        return op.attention()
                .filter(shape -> isOfScores(op) && shape.window() < shape.contextLength())
                .map(shape -> op.name() + ".window" + shape.window())
                .orElse(op.name());
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
        String numbers = op.attention()
                .map(shape -> words(shape) + (isOfScores(op) ? position : ""))
                .orElseGet(() -> switch (op) {
                    case Op.Linear linear ->
                        linear.weight().rows() + " x " + linear.weight().columns();
                    case Op.TokenEmbedding embedding ->
                        embedding.table().rows() + " of " + embedding.table().columns();
                    case Op.RmsNorm norm
                    when norm.isInPlace() ->
                        norm.groups().count() + " x " + norm.groups().size();
                    default -> Integer.toString(op.output().width());
                });
        return rows + " x " + numbers;
    }

    /** Whether its work grows with the position. */
    private static boolean isOfScores(Op op) {
        return !(op instanceof Op.Rotary || op instanceof Op.CacheAppend);
    }

    private static String words(AttentionShape shape) {
        return shape.heads() + "/" + shape.kvHeads() + " heads of " + shape.headDim();
    }
}
