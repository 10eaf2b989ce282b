package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.Collections;

/**
 * What a forward pass must read and compute. Activations are left out: they stay in a processor's caches.
 *
 * @param weightBytes read, once for each chunk of rows
 * @param cacheBytes of keys and values, read and written
 * @param operations of float32
 */
public record ProgramCost(long weightBytes, long cacheBytes, long operations) {
    /** Rows that share one reading of the weights, on every engine unless memory says less. */
    public static final int CHUNK_ROWS = 128;

    /** Tokens at positions {@code firstPosition, …} in chunks, and the logits of the last. */
    public static ProgramCost prefill(Program program, MatrixBytes matrices, int tokens, int firstPosition) {
        OpCost total = OpCost.NOTHING;
        for (int start = 0; start < tokens; start += CHUNK_ROWS) {
            int rows = Math.min(CHUNK_ROWS, tokens - start);
            boolean last = start + rows == tokens;
            total = total.plus(chunk(program, matrices, rows, firstPosition + start, last));
        }
        return of(total);
    }

    /** Tokens of each sequence at positions {@code firstPosition, …}, one after the other, and the logits of each. */
    public static ProgramCost decode(
            Program program, MatrixBytes matrices, int tokens, int firstPosition, int sequences) {
        OpCost total = OpCost.NOTHING;
        for (int token = 0; token < tokens; token++) {
            total = total.plus(
                    chunk(program, matrices, 1, firstPosition + token, true).together(sequences));
        }
        return of(total);
    }

    private static ProgramCost of(OpCost cost) {
        return new ProgramCost(cost.weightBytes(), cost.cacheBytes(), cost.operations());
    }

    private static OpCost chunk(Program program, MatrixBytes matrices, int rows, int firstPosition, boolean withHead) {
        OpCost total = OpCost.NOTHING;
        for (Op op : program.embedding()) {
            total = total.plus(OpCost.of(op, matrices, rows, firstPosition));
        }
        for (Block kind : program.kinds()) {
            int layers = Collections.frequency(program.blocks(), kind);
            for (Op op : kind.ops()) {
                total = total.plus(OpCost.of(op, matrices, rows, firstPosition).times(layers));
            }
        }
        for (Op op : program.head()) {
            if (withHead && op.output().extent() == Buffer.Extent.LOGIT_ROWS) {
                total = total.plus(OpCost.of(op, matrices, 1, firstPosition + rows - 1));
            }
        }
        return total;
    }

    /** Bytes of all weights in memory. */
    public static long modelBytes(Program program, MatrixBytes matrices) {
        long bytes = 0;
        for (Weight weight : program.weights()) {
            bytes += matrices.all(weight);
        }
        return bytes;
    }

    public long bytes() {
        return weightBytes + cacheBytes;
    }
}
