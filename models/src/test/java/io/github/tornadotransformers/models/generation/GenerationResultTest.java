package io.github.tornadotransformers.models.generation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class GenerationResultTest {
    private static final long SECOND = 1_000_000_000;

    /** 6 positions in two seconds, then 3 tokens in four. */
    private static final GenerationResult RESULT = new GenerationResult(
            new int[6], new int[4], Optional.empty(), StopReason.LENGTH, 0, 6, 2 * SECOND, 3, 4 * SECOND, Guesses.NONE);

    @Test
    void ratesAreTokensASecond() {
        assertEquals(3, RESULT.prefillTokensPerSecond());
        assertEquals(0.75, RESULT.decodeTokensPerSecond());
    }

    @Test
    void compilingIsTakenOutOfThePrefill() {
        GenerationResult without = RESULT.withoutCompiling(SECOND / 2);
        assertEquals(4, without.prefillTokensPerSecond());
        assertEquals(0.75, without.decodeTokensPerSecond());
        assertEquals(3 * SECOND / 2, without.prefillNanos());
    }

    @Test
    void aPrefillShorterThanItsCompilingHasNoRate() {
        assertEquals(0, RESULT.withoutCompiling(3 * SECOND).prefillTokensPerSecond());
    }
}
