package io.github.tornadotransformers.testsupport;

import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Generator;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.util.Optional;

/** Generates ids from ids, without a text. */
public final class Generations {
    private Generations() {}

    /** The likeliest tokens. */
    public static GenerationResult greedy(ForwardPass forward, int[] prompt, GenerationOptions options) {
        return sampled(forward, prompt, SamplingOptions.GREEDY, options);
    }

    public static GenerationResult sampled(
            ForwardPass forward, int[] prompt, SamplingOptions sampling, GenerationOptions options) {
        Generation generation = new Generation(
                prompt,
                forward.program().contextLength(),
                new Sampler(sampling, forward.program().vocabSize()),
                Optional.empty(),
                options,
                Optional.empty(),
                GenerationListener.NONE);
        return new Generator(forward).generate(generation);
    }
}
