package io.github.tornadotransformers.models.generation;

import java.util.Optional;

/**
 * What one generation gave. The arrays are the caller's.
 *
 * @param promptIds what was run before the first token was chosen
 * @param ids what the model chose, without the end token; with the token that completed a stop text
 * @param text what the listener got, in one piece; empty where there is no tokenizer
 * @param reusedTokens of the prompt, whose keys and values were there already
 * @param prefillTokens positions run before the first token was chosen
 * @param decodeTokens tokens chosen after the first
 * @param decodeNanos from the first token's choice to the end
 * @param guesses tokens that were run before it was their turn
 */
public record GenerationResult(
        int[] promptIds,
        int[] ids,
        Optional<String> text,
        StopReason stopReason,
        int reusedTokens,
        int prefillTokens,
        long prefillNanos,
        int decodeTokens,
        long decodeNanos,
        Guesses guesses) {
    /** 0 where nothing ran. */
    public double prefillTokensPerSecond() {
        return perSecond(prefillTokens, prefillNanos);
    }

    /** 0 where nothing ran. */
    public double decodeTokensPerSecond() {
        return perSecond(decodeTokens, decodeNanos);
    }

    /** As if a device's kernels had been compiled before: they are when they first run, which is in the prefill. */
    public GenerationResult withoutCompiling(long compileNanos) {
        return new GenerationResult(
                promptIds,
                ids,
                text,
                stopReason,
                reusedTokens,
                prefillTokens,
                Math.max(0, prefillNanos - compileNanos),
                decodeTokens,
                decodeNanos,
                guesses);
    }

    private static double perSecond(int tokens, long nanos) {
        return nanos == 0 ? 0 : tokens * 1e9 / nanos;
    }
}
