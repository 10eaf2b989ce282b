package io.github.tornadotransformers.training;

import java.util.Arrays;

/**
 * How fast a run goes, and how long the rest will take. The first steps of a run take many times as long as those after the
 * compiler has reached their code: the latest quarter of the steps tells.
 */
final class Pace {
    private static final int LATEST = 4;
    private static final double SECOND = 1e9;

    /** When each step had ended, in time spent on steps alone; a step's index is one less. */
    private long[] ends = new long[16];

    private int steps;
    private long begunNanos;
    private long evaluationNanos;

    /** A step or an evaluation begins; what lies before is not counted. */
    void begin(long nanos) {
        begunNanos = nanos;
    }

    void stepEnded(long nanos) {
        if (steps + 1 == ends.length) {
            ends = Arrays.copyOf(ends, 2 * ends.length);
        }
        ends[steps + 1] = ends[steps] + nanos - begunNanos;
        steps++;
    }

    /** With what was written after it. */
    void evaluationEnded(long nanos) {
        evaluationNanos = nanos - begunNanos;
    }

    /** Of the latest steps; at least one has ended. */
    double secondsPerStep() {
        int latest = Math.max(1, steps / LATEST);
        return (ends[steps] - ends[steps - latest]) / SECOND / latest;
    }

    /** The last evaluation stands for all. */
    double secondsFor(int stepsLeft, int evaluationsLeft) {
        return secondsPerStep() * stepsLeft + evaluationNanos / SECOND * evaluationsLeft;
    }
}
