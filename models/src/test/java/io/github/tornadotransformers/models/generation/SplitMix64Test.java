package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SplitMix64Test {
    /** The JDK's generator is the same algorithm, as its source says, though not its specification. */
    @Test
    void numbersAreThoseOfTheJdksSplittableRandom() {
        for (long seed : new long[] {0, 1, -1, 42, Long.MIN_VALUE}) {
            SplitMix64 ours = new SplitMix64(seed);
            SplittableRandom jdks = new SplittableRandom(seed);
            for (int i = 0; i < 1000; i++) {
                assertEquals(jdks.nextLong(), ours.nextLong(), "number " + i + " of seed " + seed);
            }
        }
    }

    /** First numbers of seed 1234567, as published with the public-domain reference code. */
    @Test
    void numbersAreThoseOfTheReference() {
        SplitMix64 random = new SplitMix64(1234567);
        assertThat(new long[] {random.nextLong(), random.nextLong(), random.nextLong()})
                .containsExactly(
                        6457827717110365317L, 3203168211198807973L, Long.parseUnsignedLong("9817491932198370423"));
    }

    @Test
    void doublesAreBelowOne() {
        SplitMix64 random = new SplitMix64(3);
        for (int i = 0; i < 10_000; i++) {
            assertThat(random.nextDouble()).isGreaterThanOrEqualTo(0).isLessThan(1);
        }
    }
}
