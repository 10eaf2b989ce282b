package io.github.tornadotransformers.models.rope;

import io.github.tornadotransformers.models.program.RotaryTable;

/**
 * Rotary position embedding, arXiv:2104.09864, of one kind of layer.
 *
 * @param theta base of the frequencies ({@code rope_theta})
 * @param dimensions elements of a head that are rotated, its first ones; even
 */
public record Rope(double theta, int dimensions, RopeScaling scaling) {
    public Rope {
        if (dimensions < 2 || dimensions % 2 != 0) {
            throw new IllegalArgumentException(
                    "rotary embedding of " + dimensions + " elements, expected an even number");
        }
    }

    /** The angles of every position of a sequence that may become so long. */
    public RotaryTable table(int contextLength) {
        return RotaryTable.of(
                scaling.frequencies(theta, dimensions, contextLength), scaling.magnitude(), contextLength);
    }

    /** The same for a head so wide, as a miniature of the model has it. */
    public Rope withDimensions(int dimensions) {
        RopeScaling fitting = scaling instanceof RopeScaling.LongRope ? new RopeScaling.None() : scaling;
        return new Rope(theta, dimensions, fitting);
    }
}
