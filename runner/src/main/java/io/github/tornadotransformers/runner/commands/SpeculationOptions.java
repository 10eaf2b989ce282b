package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.generation.Guesser;
import io.github.tornadotransformers.models.generation.PromptLookup;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that say whether tokens are guessed: the text is the same, in fewer steps. */
final class SpeculationOptions {
    @Option(
            names = "--prompt-lookup",
            description = "guess where the text repeats itself, and run several tokens at once: the same text, sooner")
    boolean promptLookup;

    Optional<Guesser> guesser() {
        return promptLookup ? Optional.of(new PromptLookup()) : Optional.empty();
    }
}
