package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.util.Optional;
import java.util.stream.IntStream;
import picocli.CommandLine.Option;

/** The options that say whether tokens are guessed: the text is the same, in fewer steps. */
final class SpeculationOptions {
    @Option(
            names = "--prompt-lookup",
            description = "guess where the text repeats itself, and run several tokens at once: the same text, sooner")
    boolean promptLookup;

    @Option(
            names = "--draft",
            paramLabel = "NAME|DIR",
            description =
                    "have a smaller model with the same tokenizer guess: the same text, sooner if they often agree")
    String draft;

    /**
     * Loads the model that guesses, if there is one.
     *
     * @param settings of the model that is guessed for
     * @throws Failure if the two do not have the same tokens
     */
    Guessers open(Console console, Checkpoint model, Optional<Tokenizer> tokenizer, EngineSettings settings) {
        if (draft == null) {
            return new Guessers(promptLookup, Optional.empty());
        }
        Checkpoint smaller = Checkpoint.open(new ModelCache(console).checkpoint(draft));
        requireSameTokens(model, tokenizer, smaller);
        int context = Math.min(
                settings.context().orElse(model.config().contextLength()),
                smaller.config().contextLength());
        EngineSettings own = settings.withSequences(Math.max(2, settings.sequences()));
        EngineSession session =
                Engines.openQuickly(smaller, settings.context().isPresent() ? own.withContext(context) : own);
        Guessers.batches(session, "--draft");
        return new Guessers(promptLookup, Optional.of(session));
    }

    /** One vocabulary may be padded further than the other. */
    private void requireSameTokens(Checkpoint model, Optional<Tokenizer> tokenizer, Checkpoint smaller) {
        Optional<Tokenizer> other = Tokenizer.loadIfPresent(smaller.path());
        int vocabSize = model.config().vocabSize();
        int otherSize = smaller.config().vocabSize();
        if (tokenizer.isEmpty() || other.isEmpty()) {
            if (vocabSize != otherSize) {
                throw Failure.of("--draft " + draft + " has a vocabulary of " + otherSize + ", but the model of "
                        + vocabSize + ": expected a model with the same tokenizer");
            }
            return;
        }
        int[] ids = IntStream.range(0, Math.min(vocabSize, otherSize)).toArray();
        if (!tokenizer.get().pieces(ids).equals(other.get().pieces(ids))) {
            throw Failure.of(
                    "--draft " + draft + " has other tokens than the model: expected one with the same tokenizer");
        }
    }
}
