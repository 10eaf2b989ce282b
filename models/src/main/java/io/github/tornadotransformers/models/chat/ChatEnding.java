package io.github.tornadotransformers.models.chat;

import io.github.tornadotransformers.models.generation.GenerationOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * By what a template ends an answer. A model writes it where its answer ends; not every checkpoint says so elsewhere.
 *
 * @param token the special token behind an answer
 * @param text where there is no such token: what stands between an answer and the next question
 */
public record ChatEnding(OptionalInt token, Optional<String> text) {
    static final ChatEnding UNKNOWN = new ChatEnding(OptionalInt.empty(), Optional.empty());

    /** The options of a generation that ends here too. */
    public GenerationOptions addedTo(GenerationOptions options) {
        Set<Integer> tokens = new HashSet<>(options.endTokens());
        token.ifPresent(tokens::add);
        List<String> texts = new ArrayList<>(options.stopTexts());
        text.ifPresent(texts::add);
        return options.withEndTokens(tokens).withStopTexts(texts);
    }
}
