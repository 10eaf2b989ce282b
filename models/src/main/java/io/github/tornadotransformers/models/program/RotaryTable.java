package io.github.tornadotransformers.models.program;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Cosines and sines of rotary position embedding (arXiv:2104.09864), of the angles {@code position * frequency[pair]}: computed
 * in double and rounded once, so that no engine needs a sine. A position's row is made when it is first wanted, so that a long
 * context costs nothing before it is used. Safe for use by several threads.
 */
public final class RotaryTable {
    /** Rows are made at least so many at a time. */
    private static final int FIRST_POSITIONS = 128;

    /** Fewer angles are not worth waking other threads. */
    private static final int PARALLEL_ANGLES = 1 << 14;

    private final double[] inverseFrequencies;
    private final double magnitude;
    private final int positions;
    private volatile Angles made = new Angles(0, new float[0], new float[0]);

    private RotaryTable(double[] inverseFrequencies, double magnitude, int positions) {
        this.inverseFrequencies = inverseFrequencies;
        this.magnitude = magnitude;
        this.positions = positions;
    }

    /**
     * The rows of the first positions. Later rows are made into other arrays.
     *
     * @param positions how many rows there are
     * @param cosines {@code [positions][pairs]}
     * @param sines {@code [positions][pairs]}
     */
    public record Angles(int positions, float[] cosines, float[] sines) {}

    /**
     * @param inverseFrequencies radians per position of each pair
     * @param magnitude what cosines and sines are multiplied by
     * @throws ArithmeticException if the table would have 2^31 entries or more
     */
    public static RotaryTable of(double[] inverseFrequencies, double magnitude, int positions) {
        int _ = Math.multiplyExact(inverseFrequencies.length, positions);
        return new RotaryTable(inverseFrequencies.clone(), magnitude, positions);
    }

    /** Positions that may be asked for. */
    public int positions() {
        return positions;
    }

    /** Half of the elements of a head that are rotated; pair {@code i} is the elements {@code i} and {@code i + pairs}. */
    public int pairs() {
        return inverseFrequencies.length;
    }

    /** All cosines, and as many sines: {@code positions * pairs}. */
    public int size() {
        return positions * pairs();
    }

    /**
     * The rows of at least the positions {@code [0, end)}.
     *
     * @throws IllegalArgumentException if the table has fewer
     */
    public Angles upTo(int end) {
        Angles found = made;
        return end <= found.positions ? found : grown(end);
    }

    private synchronized Angles grown(int end) {
        if (end > positions) {
            throw new IllegalArgumentException("position " + (end - 1) + " is not in a table of " + positions);
        }
        Angles known = made;
        if (end > known.positions) {
            long wanted = Math.max(Math.max(end, 2L * known.positions), FIRST_POSITIONS);
            made = extended(known, (int) Math.min(wanted, positions));
        }
        return made;
    }

    private Angles extended(Angles known, int count) {
        int pairs = pairs();
        float[] cosines = Arrays.copyOf(known.cosines, count * pairs);
        float[] sines = Arrays.copyOf(known.sines, count * pairs);
        IntStream missing = IntStream.range(known.positions, count);
        boolean parallel = (long) (count - known.positions) * pairs >= PARALLEL_ANGLES;
        (parallel ? missing.parallel() : missing).forEach(position -> {
            for (int pair = 0; pair < pairs; pair++) {
                double angle = position * inverseFrequencies[pair];
                cosines[position * pairs + pair] = (float) (Math.cos(angle) * magnitude);
                sines[position * pairs + pair] = (float) (Math.sin(angle) * magnitude);
            }
        });
        return new Angles(count, cosines, sines);
    }
}
