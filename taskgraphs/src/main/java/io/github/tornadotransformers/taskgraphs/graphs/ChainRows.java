package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.models.program.Program;

/**
 * For how many tokens at once a program's graphs are made, besides those for one; 1 where there are none.
 *
 * @param several a few tokens: those of sequences that decode together
 * @param many tokens of prompts
 * @param heads rows whose logits are computed at once
 * @param ofBatches whether sequences run together, and share pages
 */
record ChainRows(int several, int many, int heads, boolean ofBatches) {
    /** Of so many there are several, so that most rows of a batch are no padding. */
    private static final int MANY_PER_SEVERAL = 8;

    /** Rows whose logits are copied to the host, wanted or not. */
    private static final int HEADS = 16;

    /** Elements of the largest activations of many tokens, and of the head's sums. */
    private static final long MAX_ACTIVATION = 1L << 26;

    /** For a single sequence, whose tokens come as a prompt or one at a time. */
    static ChainRows ofOne(Program program, int wanted) {
        return new ChainRows(1, many(program, wanted), 1, false);
    }

    /** For sequences that run together. */
    static ChainRows ofBatches(Program program, int wanted) {
        int many = many(program, wanted);
        long sums = (long) Slices.count(program.residual().width()) * program.vocabSize();
        return new ChainRows(
                tiles(many / MANY_PER_SEVERAL),
                many,
                tiles(Math.min(Math.min(many, HEADS), MAX_ACTIVATION / sums)),
                true);
    }

    private static int many(Program program, int wanted) {
        long widest = program.buffers().stream()
                .mapToLong(buffer -> buffer.equals(program.logits()) ? 1 : buffer.width())
                .max()
                .orElseThrow();
        return tiles(Math.min(Math.min(wanted, program.contextLength()), MAX_ACTIVATION / widest));
    }

    /** Whole tiles; 1 where there is none. */
    private static int tiles(long rows) {
        return Math.toIntExact(Math.max(1, rows / LinearTileKernels.TILE_ROWS * LinearTileKernels.TILE_ROWS));
    }
}
