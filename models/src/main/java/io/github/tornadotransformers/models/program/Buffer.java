package io.github.tornadotransformers.models.program;

/**
 * A named activation, float32, shape {@code [rows][width]} row-major. One row is one token of the batch of rows that a
 * forward pass runs at once.
 *
 * @param width elements in a row
 * @param extent how many rows an engine must keep
 */
public record Buffer(String name, int width, Extent extent) {
    /** Which rows of a batch a buffer holds. */
    public enum Extent {
        /** Every row of the batch. */
        ALL_ROWS,

        /** The rows whose logits are wanted: the last one while generating, all while measuring a text. */
        LOGIT_ROWS
    }

    public static Buffer ofAllRows(String name, int width) {
        return new Buffer(name, width, Extent.ALL_ROWS);
    }

    public static Buffer ofLogitRows(String name, int width) {
        return new Buffer(name, width, Extent.LOGIT_ROWS);
    }
}
