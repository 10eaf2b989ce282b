package io.github.tornadotransformers.kernels;

/**
 * What changes from one run of a graph to the next: scalars are frozen into a kernel when it is compiled, so these travel in
 * an array.
 */
public final class Step {
    /** Position of row 0 in the text. */
    public static final int POSITION = 0;

    /**
     * Rows that hold tokens; those behind are padding, which no kernel stores. Kernels compare with it even where a graph is
     * compiled for a single row: a condition that folds to a constant late fails in TornadoVM's code generator.
     */
    public static final int ROWS = 1;

    /** The row whose logits are wanted. */
    public static final int LOGIT_ROW = 2;

    /** Ints of the array. */
    public static final int SIZE = 3;

    private Step() {}
}
