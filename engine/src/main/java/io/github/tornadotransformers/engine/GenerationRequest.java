package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.util.List;

/** A prompt, and how it is to be continued. What ends a text by the model's own rules comes with the model. */
public final class GenerationRequest {
    /** How many tokens are generated at most, when nothing is said. */
    public static final int DEFAULT_MAX_TOKENS = 40;

    private final Prompt prompt;
    private final SamplingOptions sampling;
    private final GenerationOptions options;

    /** What is continued. */
    private sealed interface Prompt {
        int[] ids(ModelFolder model);
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

    private GenerationRequest(Prompt prompt, SamplingOptions sampling, GenerationOptions options) {
        this.prompt = prompt;
        this.sampling = sampling;
        this.options = options;
    }

    private static GenerationRequest of(Prompt prompt) {
        return new GenerationRequest(prompt, SamplingOptions.DEFAULT, GenerationOptions.ofTokens(DEFAULT_MAX_TOKENS));
    }

    /** Continues a text; an empty one is begun. Needs a model with a tokenizer. */
    public static GenerationRequest of(String text) {
        return of(new Text(text));
    }

    /** Continues ids, as they are: no start token comes before them. None: begins a text. */
    public static GenerationRequest ofIds(int... ids) {
        return of(new Ids(ids.clone()));
    }

    /** @throws InvalidRequest if it is below 0 */
    public GenerationRequest withMaxTokens(int count) {
        return new GenerationRequest(prompt, sampling, options.withMaxTokens(count));
    }

    public GenerationRequest withSampling(SamplingOptions chosen) {
        return new GenerationRequest(prompt, chosen, options);
    }

    /**
     * Ends before the first of these texts that appears. Needs a model with a tokenizer.
     *
     * @throws InvalidRequest if one is empty
     */
    public GenerationRequest withStopTexts(List<String> texts) {
        return new GenerationRequest(prompt, sampling, options.withStopTexts(texts));
    }

    /** Whether keys and values of earlier positions are reused; if not, every token runs the whole text again, to the same bits. */
    public GenerationRequest withCache(boolean reused) {
        return new GenerationRequest(prompt, sampling, options.withCache(reused));
    }

    int[] promptIds(ModelFolder model) {
        return prompt.ids(model);
    }

    SamplingOptions sampling() {
        return sampling;
    }

    /** With what the model itself says of where a text begins and ends. */
    GenerationOptions options(ModelFolder model) {
        return options.withEndTokens(model.endTokens()).withStartToken(model.startToken());
    }
}
