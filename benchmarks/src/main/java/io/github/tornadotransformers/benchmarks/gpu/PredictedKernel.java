package io.github.tornadotransformers.benchmarks.gpu;

/**
 * A task of a token, with all its launches.
 *
 * @param task as graphs name it
 * @param kernel of it, with its class
 * @param launches for a token
 * @param items of a launch, those that have nothing to do included
 * @param inFlight loads from memory that an item has on their way at once
 * @param memoryBytes of all launches
 * @param instructions of all items and launches
 * @param seconds of all launches
 * @param launchSeconds of these, the launches themselves
 * @param bound what the longest launch waits for
 */
public record PredictedKernel(
        String task,
        String kernel,
        int launches,
        long items,
        int inFlight,
        long memoryBytes,
        double instructions,
        double seconds,
        double launchSeconds,
        KernelTime.Bound bound) {
    /** Launches of the same task in another layer. */
    PredictedKernel plus(PredictedKernel other) {
        boolean longer = other.seconds / other.launches > seconds / launches;
        return new PredictedKernel(
                task,
                kernel,
                launches + other.launches,
                Math.max(items, other.items),
                Math.max(inFlight, other.inFlight),
                memoryBytes + other.memoryBytes,
                instructions + other.instructions,
                seconds + other.seconds,
                launchSeconds + other.launchSeconds,
                longer ? other.bound : bound);
    }

    /** The part of the published bandwidth that the kernel reads with, its launches included. */
    public double share(Gpu gpu) {
        return memoryBytes / seconds / gpu.memory().bytesPerSecond();
    }
}
