package io.github.tornadotransformers.server;

import io.github.tornadotransformers.engine.LogitsHashes;
import io.github.tornadotransformers.engine.Receipt;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.function.BooleanSupplier;

/** One answer on its way: hears what is generated, in the model's thread, and hands it to the request's. */
final class Choice implements GenerationListener {
    private final int index;
    private final int[] prompt;
    private final ModelWorker worker;
    private final ServerMetrics metrics;
    private final BlockingQueue<Event> events;
    private final BooleanSupplier cancelled;
    private final OptionalInt topLogprobs;
    private final Optional<Tokenizer> tokenizer;
    private final SamplingOptions sampling;
    private final GenerationOptions options;
    private final LogitsHashes hashes;
    private final Generation generation;
    private final List<TokenLogprobs> logprobs = new ArrayList<>();
    private final long asked = System.nanoTime();
    private long before;
    private String text = "";

    /** What the request's thread is told. */
    sealed interface Event {
        Choice choice();
    }

    /** @param logprobs of the tokens since the piece before */
    record Piece(Choice choice, String text, List<TokenLogprobs> logprobs) implements Event {}

    record End(Choice choice) implements Event {}

    /**
     * @param hashed whether a receipt is wanted
     * @param cancelled is asked before every step
     */
    Choice(
            int index,
            int[] prompt,
            ModelWorker worker,
            SamplingOptions sampling,
            GenerationOptions options,
            OptionalInt topLogprobs,
            boolean hashed,
            BlockingQueue<Event> events,
            BooleanSupplier cancelled,
            ServerMetrics metrics) {
        this.index = index;
        this.prompt = prompt;
        this.worker = worker;
        this.sampling = sampling;
        this.options = options;
        this.topLogprobs = topLogprobs;
        this.events = events;
        this.cancelled = cancelled;
        this.metrics = metrics;
        tokenizer = worker.folder().usableTokenizer();
        int vocabSize = worker.folder().config().vocabSize();
        hashes = new LogitsHashes(vocabSize, this);
        generation = new Generation(
                prompt,
                worker.contextLength(),
                new Sampler(sampling, vocabSize),
                tokenizer,
                options,
                Optional.empty(),
                hashed ? hashes : this);
    }

    int index() {
        return index;
    }

    int[] prompt() {
        return prompt;
    }

    void start() {
        worker.add(generation, () -> {
            flush("");
            count();
            events.add(new End(this));
        });
    }

    private void count() {
        try {
            metrics.ended(worker.name(), generation.result());
        } catch (RuntimeException _) { // what ended it: the request's thread says so
            metrics.failed(worker.name());
        }
    }

    @Override
    public boolean hearsChoices() {
        return topLogprobs.isPresent();
    }

    @Override
    public void chosen(int token, float[] logits, int offset) {
        tellTime();
        if (topLogprobs.isPresent() && !options.endTokens().contains(token)) {
            logprobs.add(TokenLogprobs.of(
                    token, logits, offset, worker.folder().config().vocabSize(), topLogprobs.getAsInt(), tokenizer));
        }
        flushWithoutText();
    }

    @Override
    public void chosenOfCandidates(int token) {
        tellTime();
        flushWithoutText();
    }

    private void tellTime() {
        long now = System.nanoTime();
        if (before == 0) {
            metrics.firstToken(worker.name(), now - asked);
        } else {
            metrics.nextToken(worker.name(), now - before);
        }
        before = now;
    }

    private void flushWithoutText() {
        if (tokenizer.isEmpty()) {
            flush("");
        }
    }

    @Override
    public void text(String piece) {
        flush(piece);
    }

    private void flush(String piece) {
        if (!piece.isEmpty() || !logprobs.isEmpty()) {
            text += piece;
            events.add(new Piece(this, piece, List.copyOf(logprobs)));
            logprobs.clear();
        }
    }

    @Override
    public boolean isCancelled() {
        return cancelled.getAsBoolean();
    }

    /** @throws RuntimeException that ended it */
    GenerationResult result() {
        return generation.result();
    }

    Receipt receipt() {
        return Receipt.of(
                worker.name(),
                worker.hash(),
                worker.session(),
                sampling,
                options,
                generation.result(),
                hashes.hashes());
    }

    String text() {
        return text;
    }
}
