package io.github.tornadotransformers.models.generation;

/**
 * The SplitMix64 generator, written out so that a seed means the same numbers on every JVM and in every release.
 *
 * <p>Source: Steele, Lea &amp; Flood 2014, "Fast splittable pseudorandom number generators", OOPSLA; the constants are those
 * of its mix64 variant 13.
 */
final class SplitMix64 {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    SplitMix64(long seed) {
        state = seed;
    }

    /** As after so many numbers. */
    SplitMix64(long seed, long drawn) {
        state = seed + drawn * GOLDEN_GAMMA;
    }

    long nextLong() {
        state += GOLDEN_GAMMA;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** A multiple of 2^-53 in [0, 1). */
    double nextDouble() {
        return (nextLong() >>> 11) * 0x1p-53;
    }
}
