package io.github.tornadotransformers.runner.verify;

/**
 * A traced element that is NaN or infinite on both sides: no difference between them, but nothing can be told from it.
 *
 * @param step decoding step, 0 for the prompt
 * @param position of the row's token in the text
 * @param index within the row
 */
public record NonFiniteValue(int step, TracePoint point, int position, int index, double value) {
    @Override
    public String toString() {
        return "step " + step + ", " + point + ", position " + position + ", element " + index + " is " + value;
    }
}
