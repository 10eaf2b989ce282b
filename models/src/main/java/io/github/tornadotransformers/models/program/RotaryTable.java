package io.github.tornadotransformers.models.program;

/**
 * Cosines and sines of rotary position embedding (arXiv:2104.09864): {@code cos[position * headDim/2 + pair]} of the angle
 * {@code position * frequency[pair]}, computed in double and rounded once, so that no engine needs a sine.
 *
 * @param pairs {@code headDim / 2}; pair {@code i} rotates elements {@code i} and {@code i + headDim/2}
 */
public record RotaryTable(int positions, int pairs, float[] cosines, float[] sines) {
    /**
     * @param inverseFrequencies radians per position of each pair
     * @throws ArithmeticException if the table would have 2^31 entries or more
     */
    public static RotaryTable of(double[] inverseFrequencies, int positions) {
        int pairs = inverseFrequencies.length;
        int size = Math.multiplyExact(pairs, positions);
        float[] cosines = new float[size];
        float[] sines = new float[size];
        for (int position = 0; position < positions; position++) {
            for (int pair = 0; pair < pairs; pair++) {
                double angle = position * inverseFrequencies[pair];
                cosines[position * pairs + pair] = (float) Math.cos(angle);
                sines[position * pairs + pair] = (float) Math.sin(angle);
            }
        }
        return new RotaryTable(positions, pairs, cosines, sines);
    }
}
