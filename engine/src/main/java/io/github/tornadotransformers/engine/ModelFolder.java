package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.chat.ChatTemplate;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * A model as it lies in a folder, in Hugging Face's layout: checked, its weights not yet in memory. What belongs to it comes
 * with it: its tokenizer, the tokens that begin and end a text, its limits. Safe for use by several threads.
 */
public final class ModelFolder {
    private final Checkpoint checkpoint;
    private Optional<Tokenizer> tokenizer = Optional.empty();
    private Optional<ChatTemplate> chatTemplate = Optional.empty();

    private ModelFolder(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
    }

    /**
     * Reads everything but weights and tokenizer.
     *
     * @throws CheckpointException if the folder has no checkpoint, or one that is broken or asks for what is not implemented
     */
    public static ModelFolder open(Path folder) {
        return new ModelFolder(Checkpoint.open(folder));
    }

    /**
     * Brings the weights into memory.
     *
     * @throws io.github.tornadotransformers.models.InvalidRequest if the settings do not fit the model
     * @throws CheckpointException if the weights cannot be read
     * @throws io.github.tornadotransformers.models.EngineException if the engine cannot run here, or the machine lacks memory
     */
    public LanguageModel load(EngineSettings settings) {
        return new LanguageModel(this, Engines.openQuickly(checkpoint, settings));
    }

    /**
     * As {@link #load(EngineSettings)}, on an engine whose opening has begun.
     *
     * @throws IllegalArgumentException if it is not of this {@link #checkpoint}
     */
    public LanguageModel load(EngineOpening opening) {
        if (!opening.isOf(checkpoint)) {
            throw new IllegalArgumentException("the engine is opened for another model");
        }
        return new LanguageModel(this, opening.open());
    }

    /** For whoever needs more of it than this. */
    public Checkpoint checkpoint() {
        return checkpoint;
    }

    public Path path() {
        return checkpoint.path();
    }

    public ModelConfig config() {
        return checkpoint.config();
    }

    /** What the checkpoint has that its user should know of, a line each; usually nothing. */
    public List<String> notices() {
        return checkpoint.notices();
    }

    /**
     * The model's tokenizer, read when it is first asked for.
     *
     * @throws CheckpointException if the folder has none, or a broken one
     */
    public synchronized Tokenizer tokenizer() {
        if (tokenizer.isEmpty()) {
            tokenizer = Optional.of(Tokenizer.load(path()));
        }
        return tokenizer.get();
    }

    /** The tokenizer, or empty where {@link #tokenizer} would throw: a model without text still takes and gives ids. */
    public Optional<Tokenizer> usableTokenizer() {
        if (!Tokenizer.existsIn(path())) {
            return Optional.empty();
        }
        try {
            return Optional.of(tokenizer());
        } catch (CheckpointException e) {
            return Optional.empty();
        }
    }

    /**
     * How the model's makers write down a conversation, read when it is first asked for.
     *
     * @throws CheckpointException if the folder has no chat template, or one that cannot be used
     */
    public synchronized ChatTemplate chatTemplate() {
        if (chatTemplate.isEmpty()) {
            chatTemplate = Optional.of(chatTemplateOf(path()));
        }
        return chatTemplate.get();
    }

    /**
     * As {@link #chatTemplate}, of a folder that need have no weights.
     *
     * @throws CheckpointException if the folder has no chat template, or one that cannot be used
     */
    public static ChatTemplate chatTemplateOf(Path folder) {
        return ChatTemplate.ofModel(folder)
                .orElseThrow(
                        () -> new CheckpointException(
                                Quoted.path(folder)
                                        + " has no chat template: expected chat_template.jinja, chat_template in"
                                        + " tokenizer_config.json, or tokenizer.chat_template in a GGUF file; a model that was not trained for conversations only continues texts"));
    }

    /** The ids that end a text. */
    public Set<Integer> endTokens() {
        return Set.copyOf(checkpoint.endTokens());
    }

    /** What an empty prompt begins with: as the tokenizer says, else as the config does. */
    public OptionalInt startToken() {
        OptionalInt start = usableTokenizer().map(Tokenizer::startToken).orElseGet(OptionalInt::empty);
        return start.isPresent() ? start : checkpoint.bosToken();
    }
}
