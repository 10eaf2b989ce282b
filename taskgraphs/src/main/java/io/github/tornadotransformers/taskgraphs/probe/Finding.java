package io.github.tornadotransformers.taskgraphs.probe;

/**
 * A fault that a device has.
 *
 * @param example the first operation that shows it: what it gave, and what is right
 */
public record Finding(Fault fault, String example) {
    @Override
    public String toString() {
        return fault + " (" + example + ")";
    }
}
