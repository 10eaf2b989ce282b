package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.batching.DraftModel;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.generation.Guesser;
import io.github.tornadotransformers.models.generation.PromptLookup;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.runner.console.Failure;
import java.util.Optional;

/**
 * Makes a guesser for each text.
 *
 * @param draft a smaller model, on an engine for many sequences; closed with this
 */
record Guessers(boolean promptLookup, Optional<EngineSession> draft) implements AutoCloseable {
    /** @param sampling of the text */
    Optional<Guesser> guesser(SamplingOptions sampling) {
        Optional<Guesser> lookup = promptLookup ? Optional.of(new PromptLookup()) : Optional.empty();
        Optional<Guesser> model = draft.flatMap(EngineSession::batches)
                .map(engine -> new DraftModel(
                        engine, new Sampler(sampling, engine.program().vocabSize())));
        return lookup.isPresent() && model.isPresent()
                ? lookup.map(each -> each.or(model.get()))
                : lookup.or(() -> model);
    }

    /** @throws Failure if the engine runs one sequence at a time */
    static Engine batches(EngineSession session, String what) {
        return session.batches()
                .orElseThrow(
                        () -> Failure.noEngine(what + " needs an engine that runs several sequences, and the engine is "
                                + session.engine() + ": use -e host"));
    }

    @Override
    public void close() {
        draft.ifPresent(EngineSession::close);
    }
}
