package io.github.tornadotransformers.runner.bench;

import java.util.Arrays;

/**
 * A batch of rows that an Op runs on.
 *
 * @param tokens one for each row
 * @param input of the rows; empty where the Op works in place
 * @param output of the rows
 */
record OpRows(int[] tokens, float[] input, float[] output, int firstPosition, int rows) {
    /** A copy of one row, as a batch of its own. */
    OpRows alone(int row) {
        return new OpRows(new int[] {tokens[row]}, slice(input, row), slice(output, row), firstPosition + row, 1);
    }

    private float[] slice(float[] values, int row) {
        int width = values.length / rows;
        return Arrays.copyOfRange(values, row * width, (row + 1) * width);
    }
}
