package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** When a text ends and how an empty one begins: as the user and the model say. */
final class Endings {
    private Endings() {}

    static GenerationOptions of(
            int tokens, List<String> stopTexts, Checkpoint checkpoint, Optional<Tokenizer> tokenizer) {
        OptionalInt start = tokenizer.map(Tokenizer::startToken).orElseGet(OptionalInt::empty);
        return GenerationOptions.ofTokens(tokens)
                .withEndTokens(new HashSet<>(checkpoint.endTokens()))
                .withStopTexts(stopTexts)
                .withStartToken(start.isPresent() ? start : checkpoint.bosToken());
    }
}
