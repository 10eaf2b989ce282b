package io.github.tornadotransformers.host;

import java.util.stream.IntStream;

/**
 * The rows that an {@link OpLoop} runs on, and the arrays that it reads and writes. One object serves again and again, so that
 * an Op costs no allocation; arrays that grow are replaced.
 */
public final class OpRows {
    private static final float[] NONE = {};

    private float[] input = NONE;
    private float[] output = NONE;
    private int[] tokens = {};
    private BatchRows batch = BatchRows.of(0, 0);
    private int[] selected = {};
    private int rows;

    /** Where the Op reads and writes from now on. */
    public OpRows use(float[] input, float[] output) {
        this.input = input;
        this.output = output;
        return this;
    }

    /**
     * What is run next.
     *
     * @param tokens one for each row of the batch
     * @param selected the rows of the batch whose logits are wanted, in order
     * @param rows of the output: those of the batch, or the selected ones
     */
    OpRows at(int[] tokens, BatchRows batch, int[] selected, int rows) {
        this.tokens = tokens;
        this.batch = batch;
        this.selected = selected;
        this.rows = rows;
        return this;
    }

    /** Every row of the batch being wanted. */
    public OpRows at(int[] tokens, BatchRows batch) {
        return at(tokens, batch, IntStream.range(0, batch.count()).toArray(), batch.count());
    }

    float[] input() {
        return input;
    }

    float[] output() {
        return output;
    }

    int[] tokens() {
        return tokens;
    }

    BatchRows batch() {
        return batch;
    }

    int[] selected() {
        return selected;
    }

    int rows() {
        return rows;
    }
}
