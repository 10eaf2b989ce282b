package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.chat.ChatMessage;
import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Generator;
import io.github.tornadotransformers.models.generation.Perplexity;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.TokenIds;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * A language model in memory, on an engine:
 *
 * <pre>{@code
 * try (LanguageModel model = LanguageModel.load(Path.of("folder"))) {
 *     System.out.println(model.generate("Once upon a time"));
 * }
 * }</pre>
 *
 * <p>The same request gives the same text, on every engine that keeps the arithmetic contract. Safe for use by several threads,
 * which take turns. What goes wrong is a {@link io.github.tornadotransformers.models.TransformersException}.
 */
public final class LanguageModel implements AutoCloseable {
    private static final int TOGETHER = 32;

    private final ModelFolder folder;
    private final EngineSession session;
    /** Keys and values of a text stay for the next one that begins in the same way. */
    private final Generator generator;

    private final ReentrantLock turn = new ReentrantLock();
    private boolean closed;

    LanguageModel(ModelFolder folder, EngineSession session) {
        this.folder = folder;
        this.session = session;
        generator = Generator.reusing(session.forward());
    }

    /** As {@link #load(Path, EngineSettings)}, on the engine that is {@linkplain EngineSettings#automatic fast here}. */
    public static LanguageModel load(Path folder) {
        return load(folder, EngineSettings.automatic());
    }

    /**
     * @param folder a model in Hugging Face's layout
     * @throws io.github.tornadotransformers.models.CheckpointException if the model is missing, broken, or asks for what is
     *     not implemented
     * @throws InvalidRequest if the settings do not fit the model
     * @throws io.github.tornadotransformers.models.EngineException if the engine cannot run here, or the machine lacks memory
     */
    public static LanguageModel load(Path folder, EngineSettings settings) {
        return ModelFolder.open(folder).load(settings);
    }

    /** What came with the model: config, tokenizer, limits. */
    public ModelFolder folder() {
        return folder;
    }

    public EngineKind engine() {
        return session.engine();
    }

    /** Where the engine runs, in words. */
    public String device() {
        return session.device();
    }

    /** Of the matrices in memory. */
    public DType dtype() {
        return session.dtype();
    }

    /** How many positions a prompt and its continuation can have. */
    public int contextLength() {
        return session.forward().program().contextLength();
    }

    /** What it took to bring the weights into their place. */
    public long loadNanos() {
        return session.loadNanos();
    }

    /** The kernels compiled for a device so far. */
    public EngineSession.Compiled compiled() {
        return session.compiled().get();
    }

    /**
     * Continues a text by {@value GenerationRequest#DEFAULT_MAX_TOKENS} tokens at most.
     *
     * @return what follows the prompt
     * @throws InvalidRequest if the prompt does not fit the context
     * @throws io.github.tornadotransformers.models.CheckpointException if the model has no tokenizer
     */
    public String generate(String prompt) {
        return generate(GenerationRequest.of(prompt)).text().orElseThrow();
    }

    /** As {@link #generate(GenerationRequest, GenerationListener)}, heard by nobody. */
    public GenerationResult generate(GenerationRequest request) {
        return generate(request, GenerationListener.NONE);
    }

    /**
     * Continues a prompt until the model ends the text, a stop text comes, or there are as many tokens as asked for or as the
     * context holds.
     *
     * @param listener cannot use this model itself
     * @return also what the listener has got, in one piece; its times are without compiling for a device
     * @throws InvalidRequest before anything runs, if the request does not fit the model
     * @throws io.github.tornadotransformers.models.CheckpointException if a text is given and the model has no tokenizer
     * @throws io.github.tornadotransformers.models.generation.NonFiniteLogitException if a logit is NaN or infinite
     * @throws io.github.tornadotransformers.models.EngineException if a device fails
     */
    public GenerationResult generate(GenerationRequest request, GenerationListener listener) {
        Generation generation = generation(request, listener);
        return inTurn(forward -> {
            long compiledBefore = compiled().nanos();
            if (!request.cached()) {
                generator.forget();
            }
            GenerationResult result = (request.cached() ? generator : new Generator(forward)).generate(generation);
            return result.withoutCompiling(compiled().nanos() - compiledBefore);
        });
    }

    private Generation generation(GenerationRequest request, GenerationListener listener) {
        return new Generation(
                request.promptIds(folder),
                contextLength(),
                new Sampler(request.sampling(), folder.config().vocabSize()),
                folder.usableTokenizer(),
                request.options(folder),
                request.guesser(),
                listener);
    }

    /**
     * Continues many prompts, {@value TOGETHER} together or as many as the cache has memory for. Each gets what it gets alone.
     * {@link EngineSettings#withSequences} makes room for more of them.
     *
     * @return in the order of the requests
     * @throws InvalidRequest before anything runs, if a request does not fit the model
     * @throws io.github.tornadotransformers.models.TransformersException as {@link #generate(GenerationRequest)}
     */
    public List<GenerationResult> generateAll(List<GenerationRequest> requests) {
        List<Generation> generations = requests.stream()
                .map(request -> generation(request, GenerationListener.NONE))
                .toList();
        return inTurn(forward -> {
            generator.forget();
            if (session.batches().isEmpty()) {
                return generations.stream()
                        .map(new Generator(forward)::generate)
                        .toList();
            }
            forward.forget();
            try (Scheduler scheduler = new Scheduler(session.batches().get(), SchedulerLimits.ofRunning(TOGETHER))) {
                generations.forEach(scheduler::add);
                scheduler.run();
            }
            return generations.stream().map(Generation::result).toList();
        });
    }

    /**
     * Answers the last message of a conversation, in at most as many tokens as the context has room for.
     *
     * @throws InvalidRequest if the template refuses the conversation, or it does not fit the context
     * @throws io.github.tornadotransformers.models.CheckpointException if the model has no chat template, or no tokenizer
     */
    public String chat(List<ChatMessage> messages) {
        return generate(GenerationRequest.ofChat(messages, ChatOptions.DEFAULT).withMaxTokens(contextLength()))
                .text()
                .orElseThrow();
    }

    /**
     * What the model says of the token behind the last one.
     *
     * @param ids a text from its beginning, start token included where the model was trained with one
     * @return {@code [vocabSize]}; the caller's
     * @throws InvalidRequest if there is no id, one is outside the vocabulary, or they do not fit the context
     */
    public float[] logits(int... ids) {
        if (ids.length < 1 || ids.length > contextLength()) {
            throw new InvalidRequest(Wording.of(
                    "the text has %d tokens, expected 1 to %d, the %s", ids.length, contextLength(), Term.CONTEXT));
        }
        TokenIds.requireInVocabulary("token", ids, folder.config().vocabSize());
        return inTurn(forward -> {
            generator.forget();
            float[] logits = {};
            for (int from = 0; from < ids.length; from += Generator.DEFAULT_CHUNK) {
                int to = Math.min(from + Generator.DEFAULT_CHUNK, ids.length);
                logits = forward.forward(Arrays.copyOfRange(ids, from, to), from);
            }
            return logits.clone();
        });
    }

    /**
     * How well the model predicts a text, in windows as long as the context where it is longer.
     *
     * @throws InvalidRequest if the text has fewer than two tokens
     * @throws io.github.tornadotransformers.models.CheckpointException if the model has no tokenizer
     */
    public Perplexity perplexity(String text) {
        int[] ids = folder.tokenizer().encodePrompt(text);
        return inTurn(forward -> {
            generator.forget();
            return Perplexity.of(forward, ids);
        });
    }

    private <T> T inTurn(Function<ForwardPass, T> work) {
        requireOutsideOfListener();
        turn.lock();
        try {
            if (closed) {
                throw new InvalidRequest("the model is closed");
            }
            return work.apply(session.forward());
        } finally {
            turn.unlock();
        }
    }

    private void requireOutsideOfListener() {
        if (turn.isHeldByCurrentThread()) {
            throw new InvalidRequest("a listener cannot use the model that it listens to");
        }
    }

    /** Frees the memory, after what is running has ended. */
    @Override
    public void close() {
        requireOutsideOfListener();
        turn.lock();
        try {
            if (!closed) {
                closed = true;
                session.close();
            }
        } finally {
            turn.unlock();
        }
    }
}
