package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.chat.ChatMessage;
import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.chat.ChatTemplate;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.Guesser;
import io.github.tornadotransformers.models.generation.PromptLookup;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.util.List;
import java.util.Optional;

/** A prompt, and how it is to be continued. What ends a text by the model's own rules comes with the model. */
public final class GenerationRequest {
    /** How many tokens are generated at most, when nothing is said. */
    public static final int DEFAULT_MAX_TOKENS = 40;

    private final Prompt prompt;
    private final SamplingOptions sampling;
    private final GenerationOptions options;
    private final boolean looksUp;

    /** What is continued. */
    private sealed interface Prompt {
        int[] ids(ModelFolder model);

        /** With what ends a text of this kind. */
        default GenerationOptions ending(GenerationOptions options, ModelFolder model) {
            return options;
        }
    }

    private record Text(String text) implements Prompt {
        @Override
        public int[] ids(ModelFolder model) {
            return model.tokenizer().encodePrompt(text);
        }
    }

    /** The array is nobody else's. */
    private record Ids(int[] given) implements Prompt {
        @Override
        public int[] ids(ModelFolder model) {
            return given.clone();
        }
    }

    /** @param given instead of the model's own template */
    private record Chat(List<ChatMessage> messages, ChatOptions options, Optional<ChatTemplate> given)
            implements Prompt {
        private ChatTemplate template(ModelFolder model) {
            return given.orElseGet(model::chatTemplate);
        }

        @Override
        public int[] ids(ModelFolder model) {
            return template(model).prompt(messages, options, model.tokenizer()).ids();
        }

        @Override
        public GenerationOptions ending(GenerationOptions options, ModelFolder model) {
            return template(model).ending(model.tokenizer()).addedTo(options);
        }
    }

    private GenerationRequest(Prompt prompt, SamplingOptions sampling, GenerationOptions options, boolean looksUp) {
        this.prompt = prompt;
        this.sampling = sampling;
        this.options = options;
        this.looksUp = looksUp;
    }

    private static GenerationRequest of(Prompt prompt) {
        return new GenerationRequest(
                prompt, SamplingOptions.DEFAULT, GenerationOptions.ofTokens(DEFAULT_MAX_TOKENS), false);
    }

    /** Continues a text; an empty one is begun. Needs a model with a tokenizer. */
    public static GenerationRequest of(String text) {
        return of(new Text(text));
    }

    /** Answers the last message of a conversation. Needs a model with a tokenizer and a chat template. */
    public static GenerationRequest ofChat(List<ChatMessage> messages, ChatOptions options) {
        return of(new Chat(List.copyOf(messages), options, Optional.empty()));
    }

    /** As {@link #ofChat(List, ChatOptions)}, with another template than the model's. */
    public static GenerationRequest ofChat(List<ChatMessage> messages, ChatOptions options, ChatTemplate template) {
        return of(new Chat(List.copyOf(messages), options, Optional.of(template)));
    }

    /** Continues ids, as they are: no start token comes before them. None: begins a text. */
    public static GenerationRequest ofIds(int... ids) {
        return of(new Ids(ids.clone()));
    }

    /** @throws InvalidRequest if it is below 0 */
    public GenerationRequest withMaxTokens(int count) {
        return new GenerationRequest(prompt, sampling, options.withMaxTokens(count), looksUp);
    }

    public GenerationRequest withSampling(SamplingOptions chosen) {
        return new GenerationRequest(prompt, chosen, options, looksUp);
    }

    /**
     * Ends before the first of these texts that appears. Needs a model with a tokenizer.
     *
     * @throws InvalidRequest if one is empty
     */
    public GenerationRequest withStopTexts(List<String> texts) {
        return new GenerationRequest(prompt, sampling, options.withStopTexts(texts), looksUp);
    }

    /** Whether keys and values of earlier positions are reused; if not, every token runs the whole text again, to the same bits. */
    public GenerationRequest withCache(boolean reused) {
        return new GenerationRequest(prompt, sampling, options.withCache(reused), looksUp);
    }

    /**
     * Whether tokens are guessed where the text repeats itself, and run together with those before: the same text, in fewer
     * steps.
     */
    public GenerationRequest withPromptLookup(boolean wanted) {
        return new GenerationRequest(prompt, sampling, options, wanted);
    }

    int[] promptIds(ModelFolder model) {
        return prompt.ids(model);
    }

    SamplingOptions sampling() {
        return sampling;
    }

    Optional<Guesser> guesser() {
        return looksUp ? Optional.of(new PromptLookup()) : Optional.empty();
    }

    boolean cached() {
        return options.cached();
    }

    /** With what the model itself says of where a text begins and ends. */
    GenerationOptions options(ModelFolder model) {
        GenerationOptions own = options.withEndTokens(model.endTokens()).withStartToken(model.startToken());
        return prompt.ending(own, model);
    }
}
