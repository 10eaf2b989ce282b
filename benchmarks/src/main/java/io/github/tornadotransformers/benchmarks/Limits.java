package io.github.tornadotransformers.benchmarks;

/**
 * What a machine can do at most.
 *
 * @param threads that were at it; 0 where it is no matter of threads
 * @param readBytesPerSecond from memory
 * @param operationsPerSecond products and sums of float32, fused, counted as two
 */
public record Limits(int threads, double readBytesPerSecond, double operationsPerSecond) {
    /** The least time for reading and computing so much, one behind the other's back. */
    public double seconds(long bytes, long operations) {
        return Math.max(bytes / readBytesPerSecond, operations / operationsPerSecond);
    }

    /** How many threads, for a reader. */
    public String words() {
        return threads == 1 ? "1 thread" : threads + " threads";
    }
}
