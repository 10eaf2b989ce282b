package io.github.tornadotransformers.runner.verify;

/**
 * The first element, in the order of computation, that the tolerance refuses.
 *
 * @param step decoding step, 0 for the prompt
 * @param position of the row's token in the text
 * @param index within the row
 * @param expected the reference's value
 */
public record FirstDifference(int step, TracePoint point, int position, int index, double expected, double actual) {
    @Override
    public String toString() {
        return "step " + step + ", " + point + ", position " + position + ", element " + index + ": " + shortest(actual)
                + " instead of " + shortest(expected);
    }

    /** As few digits as tell the value from its neighbours of the same precision. */
    private static String shortest(double value) {
        float narrowed = (float) value;
        return narrowed == value ? Float.toString(narrowed) : Double.toString(value);
    }
}
