package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.batching.DraftModel;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Generator;
import io.github.tornadotransformers.models.generation.Guesser;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A smaller model guesses; here it is sometimes the model itself, and then always right. */
class DraftModelTest {
    private static final int CONTEXT = 90;
    private static final int TOKENS = 60;

    private final RandomData data = new RandomData(8);
    private final Program program = RandomConfigs.of(data, CONTEXT).program(CONTEXT);
    private final Weights weights = RandomModels.weights(program, DType.F32, data);
    private final int[] prompt = data.ints(7, program.vocabSize());

    private static SamplingOptions sampling(double temperature) {
        return new SamplingOptions(temperature, 0, 1, 0, 1.1, 5, false);
    }

    private GenerationResult generated(SamplingOptions sampling, Optional<Guesser> guesser) {
        try (HostForwardPass forward = new HostForwardPass(program, weights, new ScalarOps())) {
            return new Generator(forward)
                    .generate(new Generation(
                            prompt,
                            CONTEXT,
                            new Sampler(sampling, program.vocabSize()),
                            Optional.empty(),
                            GenerationOptions.ofTokens(TOKENS),
                            guesser,
                            GenerationListener.NONE));
        }
    }

    private static HostInterpreter engine(Program program, Weights weights, int pages) {
        return new HostInterpreter(
                program,
                weights,
                new ScalarOps(),
                KvType.F32,
                pages * HostInterpreter.cacheBytes(program, KvType.F32, 1));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.7, 3})
    void aModelThatGuessesForItselfIsRightWithoutThePenaltyOfWhatItGuesses(double temperature) {
        SamplingOptions plain = new SamplingOptions(temperature, 0, 1, 0, 1, 5, false);
        try (HostInterpreter engine = engine(program, weights, 1);
                DraftModel draft = new DraftModel(engine, new Sampler(plain, program.vocabSize()))) {
            GenerationResult result = generated(plain, Optional.of(draft));
            assertThat(result.ids())
                    .isEqualTo(generated(plain, Optional.empty()).ids());
            assertThat(result.guesses().made()).isGreaterThan(TOKENS / 2);
            assertThat(result.guesses().right()).isEqualTo(result.guesses().made());
        }
    }

    /** Its context is shorter, and its vocabulary smaller. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.7, 3})
    void aModelThatDisagreesChangesNothing(double temperature) {
        RandomData other = new RandomData(9);
        Program smaller = RandomConfigs.of(other, CONTEXT / 2).program(CONTEXT / 2);
        Weights others = RandomModels.weights(smaller, DType.F32, other);
        SamplingOptions sampling = sampling(temperature);
        try (HostInterpreter engine = engine(smaller, others, 1);
                DraftModel draft = new DraftModel(engine, new Sampler(sampling, smaller.vocabSize()))) {
            assertThat(generated(sampling, Optional.of(draft)).ids())
                    .isEqualTo(generated(sampling, Optional.empty()).ids());
        }
    }

    @Test
    void withoutMemoryNothingIsGuessed() {
        SamplingOptions sampling = sampling(0);
        try (HostInterpreter engine = engine(program, weights, 1);
                DraftModel holder = new DraftModel(engine, new Sampler(sampling, program.vocabSize()));
                DraftModel draft = new DraftModel(engine, new Sampler(sampling, program.vocabSize()))) {
            assertThat(holder.guess(prompt, prompt.length, 0, 3)).hasSize(3);
            assertThat(draft.guess(prompt, prompt.length, 0, 3)).isEmpty();
        }
    }

    @Test
    void memoryIsGivenBackAtTheEnd() {
        SamplingOptions sampling = sampling(0);
        try (HostInterpreter engine = engine(program, weights, 1)) {
            for (int i = 0; i < 3; i++) {
                generated(sampling, Optional.of(new DraftModel(engine, new Sampler(sampling, program.vocabSize()))));
            }
            assertThat(engine.open(1).reserve(1)).isTrue();
        }
    }

    /** What it guessed and ran before does not disturb it where the text went another way. */
    @Test
    void guessesDependOnTheTextAlone() {
        SamplingOptions sampling = sampling(0.7);
        try (HostInterpreter engine = engine(program, weights, 9);
                DraftModel used = new DraftModel(engine, new Sampler(sampling, program.vocabSize()))) {
            int[] text = prompt.clone();
            for (int length = 3; length < text.length; length++) {
                used.guess(text, length, 0, 5);
            }
            try (DraftModel fresh = new DraftModel(engine, new Sampler(sampling, program.vocabSize()))) {
                assertThat(used.guess(text, text.length, 2, 5)).isEqualTo(fresh.guess(text, text.length, 2, 5));
            }
        }
    }
}
