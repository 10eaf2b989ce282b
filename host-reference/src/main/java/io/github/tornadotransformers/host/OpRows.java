package io.github.tornadotransformers.host;

/**
 * The rows that an {@link OpLoop} runs on, and the arrays that it reads and writes. One object serves again and again, so that
 * an Op costs no allocation; arrays that grow are replaced.
 */
public final class OpRows {
    private static final float[] NONE = {};

    private final float[] keys;
    private final float[] values;
    private float[] input = NONE;
    private float[] output = NONE;
    private int[] tokens = {};
    private int firstPosition;
    private int inputRows;
    private int rows;

    /** Of an Op without a cache. */
    public OpRows() {
        this(NONE, NONE);
    }

    /**
     * @param keys of the layer's cache, {@code [kvHead][headDim][contextLength]}
     * @param values of the layer's cache, {@code [kvHead][contextLength][headDim]}
     */
    public OpRows(float[] keys, float[] values) {
        this.keys = keys;
        this.values = values;
    }

    /** Where the Op reads and writes from now on. */
    public OpRows use(float[] input, float[] output) {
        this.input = input;
        this.output = output;
        return this;
    }

    /**
     * What is run next.
     *
     * @param tokens one for each row
     * @param firstPosition of the first row; the others follow
     * @param inputRows rows of the batch
     * @param rows of the output: those of the batch, or its last ones where only their logits are wanted
     */
    public OpRows at(int[] tokens, int firstPosition, int inputRows, int rows) {
        this.tokens = tokens;
        this.firstPosition = firstPosition;
        this.inputRows = inputRows;
        this.rows = rows;
        return this;
    }

    /** As the other, every row of the batch being wanted. */
    public OpRows at(int[] tokens, int firstPosition, int rows) {
        return at(tokens, firstPosition, rows, rows);
    }

    float[] keys() {
        return keys;
    }

    float[] values() {
        return values;
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

    int firstPosition() {
        return firstPosition;
    }

    int inputRows() {
        return inputRows;
    }

    int rows() {
        return rows;
    }
}
