package io.github.tornadotransformers.runner.hub;

import java.time.Duration;

/**
 * How hard a download tries.
 *
 * @param stall how long nothing may come before a connection counts as broken
 * @param attempts in a row that bring nothing, after which it gives up
 * @param firstPause before the next attempt; it doubles with each that brings nothing
 * @param longestPause that it grows to
 */
record Persistence(Duration stall, int attempts, Duration firstPause, Duration longestPause) {
    /** Two minutes of a hub that does not answer. */
    static final Persistence DEFAULT =
            new Persistence(Duration.ofSeconds(60), 8, Duration.ofSeconds(1), Duration.ofSeconds(60));

    /** @param fruitless attempts in a row that brought nothing */
    Duration pause(int fruitless) {
        Duration pause = firstPause;
        for (int i = 1; i < fruitless && pause.compareTo(longestPause) < 0; i++) {
            pause = pause.multipliedBy(2);
        }
        return pause.compareTo(longestPause) < 0 ? pause : longestPause;
    }
}
