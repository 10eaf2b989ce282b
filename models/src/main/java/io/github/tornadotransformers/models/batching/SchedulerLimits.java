package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.InvalidRequest;

/**
 * @param running sequences that run together at most; the others wait
 * @param rows tokens of a step at most, which bounds how long the next token of each is waited for; more than {@code running},
 *     so that prompts go on beside
 * @param waiting sequences that wait at most; more are refused
 */
public record SchedulerLimits(int running, int rows, int waiting) {
    /** Rows that engines run well together. */
    private static final int ROWS = 128;

    /** So many together, with as many rows as engines run well, and as many that wait as there are. */
    public static SchedulerLimits ofRunning(int running) {
        return new SchedulerLimits(running, Math.max(ROWS, Math.multiplyExact(2, running)), Integer.MAX_VALUE);
    }

    public SchedulerLimits {
        if (running < 1 || rows <= running || waiting < 1) {
            throw new InvalidRequest(running + " running sequences, " + rows + " rows and " + waiting
                    + " waiting: expected 1 or more running, more rows than that, and 1 or more waiting");
        }
    }
}
