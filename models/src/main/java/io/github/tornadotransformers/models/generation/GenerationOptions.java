package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * When a generation ends, and how it begins.
 *
 * @param maxTokens how many tokens to generate at most; 0 runs the prompt alone
 * @param endTokens ids that end the text; none: it runs to {@code maxTokens}
 * @param stopTexts texts that end the text, and are no part of it; special tokens may be spelled in them
 * @param startToken what an empty prompt is replaced by; where there is none an empty prompt is refused
 * @param cached whether keys and values of earlier positions are reused; if not, every token runs the whole window again
 */
public record GenerationOptions(
        int maxTokens, Set<Integer> endTokens, List<String> stopTexts, OptionalInt startToken, boolean cached) {
    /** @throws InvalidRequest if a value is outside its range */
    public GenerationOptions {
        endTokens = Set.copyOf(endTokens);
        stopTexts = List.copyOf(stopTexts);
        if (maxTokens < 0) {
            throw new InvalidRequest(Wording.of("%s is %d, expected 0 or more", Term.MAX_TOKENS, maxTokens));
        }
        if (stopTexts.contains("")) {
            throw new InvalidRequest(Wording.of("an empty text is in %s, expected a text", Term.STOP_TEXTS));
        }
    }

    /** At most so many tokens, with the cache, and no other end than the context's. */
    public static GenerationOptions ofTokens(int maxTokens) {
        return new GenerationOptions(maxTokens, Set.of(), List.of(), OptionalInt.empty(), true);
    }

    public GenerationOptions withMaxTokens(int count) {
        return new GenerationOptions(count, endTokens, stopTexts, startToken, cached);
    }

    public GenerationOptions withEndTokens(Set<Integer> ids) {
        return new GenerationOptions(maxTokens, ids, stopTexts, startToken, cached);
    }

    public GenerationOptions withStopTexts(List<String> texts) {
        return new GenerationOptions(maxTokens, endTokens, texts, startToken, cached);
    }

    public GenerationOptions withStartToken(OptionalInt id) {
        return new GenerationOptions(maxTokens, endTokens, stopTexts, id, cached);
    }

    public GenerationOptions withCache(boolean reused) {
        return new GenerationOptions(maxTokens, endTokens, stopTexts, startToken, reused);
    }
}
