package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.LogitsHashes;
import io.github.tornadotransformers.engine.Receipt;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.Optional;

/**
 * The model that answers the lines of a batch.
 *
 * @param name as the user gave it
 * @param loadNanos from the start of the command to weights in their place
 * @param hash of the model, where answers get receipts
 */
record BatchModel(
        String name,
        Checkpoint checkpoint,
        Optional<Tokenizer> tokenizer,
        EngineSession session,
        Guessers guessers,
        long loadNanos,
        Optional<String> hash) {
    /** @throws InvalidRequest if the request does not fit the model */
    BatchRun.Asked ask(BatchRequest request) {
        int[] ids = request.ids()
                .orElseGet(() -> tokenizer
                        .orElseThrow(() -> new InvalidRequest("the model has no tokenizer: give prompt_ids"))
                        .encodePrompt(request.text().orElseThrow()));
        int vocabSize = checkpoint.config().vocabSize();
        LogitsHashes hashes = new LogitsHashes(vocabSize, GenerationListener.NONE);
        GenerationOptions options = Endings.of(request.tokens(), request.stop(), checkpoint, tokenizer);
        Generation generation = new Generation(
                ids,
                session.forward().program().contextLength(),
                new Sampler(request.sampling(), vocabSize),
                tokenizer,
                options,
                guessers.guesser(request.sampling()),
                hash.isPresent() ? hashes : GenerationListener.NONE);
        return new BatchRun.Asked(request.id(), generation, result -> answer(request, options, hashes, result));
    }

    private ObjectNode answer(
            BatchRequest request, GenerationOptions options, LogitsHashes hashes, GenerationResult result) {
        ObjectNode answer =
                GenerationReport.of(name, session, result, loadNanos).toJson();
        hash.ifPresent(known -> answer.set(
                "receipt",
                Receipt.of(name, known, session, request.sampling(), options, result, hashes.hashes())
                        .toJson()));
        return answer;
    }
}
