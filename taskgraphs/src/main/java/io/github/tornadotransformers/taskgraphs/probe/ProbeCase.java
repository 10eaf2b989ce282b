package io.github.tornadotransformers.taskgraphs.probe;

import java.util.Optional;

/**
 * An operation on operands, and its right result.
 *
 * @param fault of a device that gives another result
 * @param expression the operation with its operands
 * @param slot where the result is
 * @param bits of the right result; NaN has those of {@link Float#NaN}
 */
record ProbeCase(Fault fault, String expression, Kind kind, int slot, int bits) {
    /** What a result is. */
    enum Kind {
        FLOAT,
        INT
    }

    static ProbeCase of(Fault fault, String expression, int slot, float right) {
        return new ProbeCase(fault, expression, Kind.FLOAT, slot, Float.floatToIntBits(right));
    }

    static ProbeCase of(Fault fault, String expression, int slot, int right) {
        return new ProbeCase(fault, expression, Kind.INT, slot, right);
    }

    /** The fault, if a device has given another result. */
    Optional<Finding> judge(float[] floats, int[] wholes) {
        int found = kind == Kind.FLOAT ? Float.floatToIntBits(floats[slot]) : wholes[slot];
        return found == bits
                ? Optional.empty()
                : Optional.of(new Finding(fault, expression + " gives " + text(found) + " instead of " + text(bits)));
    }

    private String text(int value) {
        return kind == Kind.FLOAT ? Float.toString(Float.intBitsToFloat(value)) : Integer.toString(value);
    }
}
