package io.github.tornadotransformers.models.checkpoint;

/** A tensor's elements, wherever they come from; several threads may ask at once. */
@FunctionalInterface
public interface FloatSource {
    /** {@code values[0 .. count)} = the elements from index {@code first} on, row-major. */
    void read(long first, float[] values, int count);
}
