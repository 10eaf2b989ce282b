package io.github.tornadotransformers.runner.bench;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
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

    private static final int LAYER_NORM = 8;
    private static final int RMS_NORM = 4;

    /** A maximum, a difference, exp, a sum and a quotient. */
    private static final int SOFTMAX = EXP + 4;

    /** Of an element; two of a pair share four products and two sums. */
    private static final int ROTARY = 3;

    /**
     * @param dtype of matrices
     * @param rows of the Op's output, at positions {@code firstPosition, firstPosition + 1, …}
     */
    public static OpCost of(Op op, DType dtype, int rows, int firstPosition) {
        long outputs = (long) rows * op.output().width();
        return switch (op) {
            case Op.TokenEmbedding _ -> {
                int element = dtype == DType.INT8 ? dtype.bytes() + Float.BYTES : dtype.bytes();
                yield new OpCost(outputs * element, 0, floats(outputs), dtype == DType.INT8 ? outputs : 0);
            }
            case Op.PositionEmbedding _ -> new OpCost(floats(outputs), 0, floats(2 * outputs), outputs);
            case Op.LayerNorm norm ->
                new OpCost(floats(2L * norm.output().width()), 0, floats(2 * outputs), LAYER_NORM * outputs);
            case Op.RmsNorm norm ->
                new OpCost(floats(norm.output().width()), 0, floats(2 * outputs), RMS_NORM * outputs);
            case Op.Linear linear -> linear(linear, dtype, rows);
            case Op.Rotary rotary -> {
                AttentionShape shape = rotary.shape();
                long rotated = (long) rows * (shape.queryWidth() + shape.keyValueWidth());
                yield new OpCost(0, 0, floats(2 * rotated + (long) rows * shape.headDim()), ROTARY * rotated);
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
                        floats((long) (firstPosition + rows) * shape.keyValueWidth()),
                        floats((long) rows * shape.queryWidth() + pairs),
                        (2L * shape.headDim() + 1) * pairs);
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
                        floats((long) (firstPosition + rows) * shape.keyValueWidth()),
                        floats(pairs + outputs),
                        2L * shape.headDim() * pairs);
            }
            case Op.SwiGlu _ -> new OpCost(0, 0, floats(3 * outputs), (SILU + 1) * outputs);
            case Op.SelectRows _ -> new OpCost(0, 0, floats(2 * outputs), 0);
        };
    }

    private static OpCost linear(Op.Linear linear, DType dtype, int rows) {
        Weight weight = linear.weight();
        long outputs = (long) rows * weight.columns();
        long bytes = matrixBytes(weight, dtype) + (linear.bias().isPresent() ? floats(weight.columns()) : 0);
        int perOutput = (linear.bias().isPresent() ? 1 : 0)
                + (linear.activation() == Activation.GELU_TANH ? GELU_TANH : 0)
                + (linear.addsToOutput() ? 1 : 0);
        return new OpCost(
                bytes,
                0,
                floats((long) rows * weight.rows() + (linear.addsToOutput() ? 2 : 1) * outputs),
                (2L * weight.rows() + perOutput) * outputs);
    }

    /** Bytes of one layer of a matrix. */
    static long matrixBytes(Weight weight, DType dtype) {
        long scales = dtype == DType.INT8 ? WeightData.scaleBytes(weight) : 0;
        return (WeightData.elementBytes(weight, dtype) + scales) / weight.layers();
    }

    /** Pairs of a head's query and a position that it sees. */
    private static long pairs(AttentionShape shape, int rows, int firstPosition) {
        long positions = (long) rows * firstPosition + (long) rows * (rows + 1) / 2;
        return shape.heads() * positions;
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

    OpCost times(int count) {
        return new OpCost(weightBytes * count, cacheBytes * count, activationBytes * count, operations * count);
    }
}
