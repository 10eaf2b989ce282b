package io.github.tornadotransformers.emulator;

/** What one execution took, in nanoseconds and bytes. */
public record Profile(
        long totalNanos, long writeNanos, long readNanos, long kernelNanos, long bytesToDevice, long bytesToHost) {

    static final Profile NONE = new Profile(0, 0, 0, 0, 0, 0);

    Profile plus(Profile other) {
        return new Profile(
                totalNanos + other.totalNanos,
                writeNanos + other.writeNanos,
                readNanos + other.readNanos,
                kernelNanos + other.kernelNanos,
                bytesToDevice + other.bytesToDevice,
                bytesToHost + other.bytesToHost);
    }
}
