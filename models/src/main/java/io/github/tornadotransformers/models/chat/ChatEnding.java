package io.github.tornadotransformers.models.chat;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * By what a template ends an answer. A model writes it where its answer ends; not every checkpoint says so elsewhere.
 *
 * @param token the special token behind an answer
 * @param text where there is no such token: what stands between an answer and the next question
 */
public record ChatEnding(OptionalInt token, Optional<String> text) {
    static final ChatEnding UNKNOWN = new ChatEnding(OptionalInt.empty(), Optional.empty());
}
