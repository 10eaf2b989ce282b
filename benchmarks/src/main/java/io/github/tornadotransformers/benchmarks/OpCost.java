package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.program.Weight;

/**
 * What an Op must read, write and compute, whoever runs it: each byte is counted once for a batch of rows, however often an
 * engine loads it.
 *
 * @param weightBytes of trained tensors, scales included
 * @param cacheBytes of keys and values
 * @param activationBytes of buffers, read and written
 * @param operations additions, subtractions, multiplications, divisions and comparisons of float32
 */
public record OpCost(long weightBytes, long cacheBytes, long activationBytes, long operations) {
    static final OpCost NOTHING = new OpCost(0, 0, 0, 0);

    /** Operations of the contract's exp. */
    private static final int EXP = 23;

    private static final int SILU = EXP + 3;
    private static final int GELU_TANH = EXP + 8;
    private static final int TANH = EXP + 4;

    /** A polynomial of degree 7 and its exp. */
    private static final int GELU_ERF = EXP + 18;

    private static final int LAYER_NORM = 8;
    private static final int RMS_NORM = 4;

    /** A maximum, a difference, exp, a sum and a quotient. */
    private static final int SOFTMAX = EXP + 4;

    /** Of an element; two of a pair share four products and two sums. */
    private static final int ROTARY = 3;

    /**
     * @param matrices their bytes
     * @param rows of the Op's output, at positions {@code firstPosition, firstPosition + 1, …}
     */
    public static OpCost of(Op op, MatrixBytes matrices, int rows, int firstPosition) {
        long outputs = (long) rows * op.output().width();
        return switch (op) {
            case Op.TokenEmbedding embedding -> {
                long element = matrices.element(embedding.table());
                int products = (matrices.dtype() == DType.INT8 ? 1 : 0) + (embedding.scale() == 1f ? 0 : 1);
                yield new OpCost(outputs * element, 0, floats(outputs), products * outputs);
            }
            case Op.PositionEmbedding _ -> new OpCost(floats(outputs), 0, floats(2 * outputs), outputs);
            case Op.LayerNorm norm ->
                new OpCost(floats(2L * norm.output().width()), 0, floats(2 * outputs), LAYER_NORM * outputs);
            case Op.RmsNorm norm -> {
                long normed =
                        (long) rows * norm.groups().count() * norm.groups().size();
                yield new OpCost(
                        floats(norm.groups().size()),
                        0,
                        floats((norm.residual().adds() ? 3 : 2) * normed),
                        (RMS_NORM + operations(norm.residual())) * normed);
            }
            case Op.Linear linear -> linear(linear, matrices, rows);
            case Op.Rotary rotary -> {
                AttentionShape shape = rotary.shape();
                int angles = 2 * rotary.table().pairs();
                long rotated = (long) rows * (shape.heads() + shape.kvHeads()) * angles;
                yield new OpCost(0, 0, floats(2 * rotated + (long) rows * angles), ROTARY * rotated);
            }
            case Op.CacheAppend append -> {
                long appended = 2L * rows * append.shape().keyValueWidth();
                yield new OpCost(0, floats(appended), floats(appended), 0);
            }
            case Op.AttentionScores scores -> {
                AttentionShape shape = scores.shape();
                long pairs = pairs(shape, rows, firstPosition);
                yield new OpCost(
                        0,
                        floats((long) seen(shape, rows, firstPosition) * shape.keyValueWidth()),
                        floats((long) rows * shape.queryWidth() + pairs),
                        (2L * shape.headDim() + operations(scores.scaling())) * pairs);
            }
            case Op.Softmax softmax -> {
                long pairs = pairs(softmax.shape(), rows, firstPosition);
                yield new OpCost(0, 0, floats(2 * pairs), SOFTMAX * pairs);
            }
            case Op.AttentionOutput output -> {
                AttentionShape shape = output.shape();
                long pairs = pairs(shape, rows, firstPosition);
                yield new OpCost(
                        0,
                        floats((long) seen(shape, rows, firstPosition) * shape.keyValueWidth()),
                        floats(pairs + outputs),
                        2L * shape.headDim() * pairs);
            }
            case Op.GatedMlp mlp -> new OpCost(0, 0, floats(3 * outputs), (operations(mlp.activation()) + 1) * outputs);
            case Op.Scale scale -> new OpCost(0, 0, floats(2 * outputs), operations(scale.scaling()) * outputs);
            case Op.SelectRows _ -> new OpCost(0, 0, floats(2 * outputs), 0);
        };
    }

    private static OpCost linear(Op.Linear linear, MatrixBytes matrices, int rows) {
        Weight weight = linear.weight();
        long outputs = (long) rows * weight.columns();
        long bytes = matrices.layer(weight) + (linear.bias().isPresent() ? floats(weight.columns()) : 0);
        int perOutput =
                (linear.bias().isPresent() ? 1 : 0) + operations(linear.activation()) + operations(linear.residual());
        return new OpCost(
                bytes,
                0,
                floats((long) rows * weight.rows() + (linear.addsToOutput() ? 2 : 1) * outputs),
                (2L * weight.rows() + perOutput) * outputs);
    }

    /** Pairs of a head's query and a position that it sees. */
    private static long pairs(AttentionShape shape, int rows, int firstPosition) {
        long positions = 0;
        for (int r = 0; r < rows; r++) {
            positions += shape.visible(firstPosition + r);
        }
        return shape.heads() * positions;
    }

    /** Positions that any of the rows sees. */
    private static int seen(AttentionShape shape, int rows, int firstPosition) {
        return firstPosition + rows - shape.firstVisible(firstPosition);
    }

    private static int operations(Activation activation) {
        return switch (activation) {
            case NONE -> 0;
            case SILU -> SILU;
            case GELU_TANH -> GELU_TANH;
            case GELU_ERF -> GELU_ERF;
        };
    }

    private static int operations(Residual residual) {
        return !residual.adds() ? 0 : residual.scale() == 1f ? 1 : 2;
    }

    private static int operations(Scaling scaling) {
        return scaling.isCapped() ? TANH + 3 : 1;
    }

    private static long floats(long count) {
        return count * Float.BYTES;
    }

    public long bytes() {
        return weightBytes + cacheBytes + activationBytes;
    }

    OpCost plus(OpCost other) {
        return new OpCost(
                weightBytes + other.weightBytes,
                cacheBytes + other.cacheBytes,
                activationBytes + other.activationBytes,
                operations + other.operations);
    }

    /** Of a row of each of so many sequences, which share each reading of the weights. */
    OpCost together(int sequences) {
        return new OpCost(weightBytes, cacheBytes * sequences, activationBytes * sequences, operations * sequences);
    }

    OpCost times(int count) {
        return new OpCost(weightBytes * count, cacheBytes * count, activationBytes * count, operations * count);
    }
}
