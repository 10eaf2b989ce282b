package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.RankedTokens;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** All logits are asked for only where something depends on more than the largest. */
class CandidatesTest {
    private static final int[] PROMPT = {5, 6};
    private static final int[] SAID = {3, 7, 2};
    private static final SamplingOptions PENALIZING = new SamplingOptions(0, 0, 1, 0, 1.5, 0, true);

    /** Counts which way the last token of each call was asked for. */
    private static final class Counting implements ForwardPass {
        private final ScriptedForwardPass pass;
        private int logits;
        private int candidates;

        Counting(ScriptedForwardPass pass) {
            this.pass = pass;
        }

        static Counting saying() {
            return new Counting(ScriptedForwardPass.saying(9, 16, PROMPT.length, SAID));
        }

        @Override
        public Program program() {
            return pass.program();
        }

        @Override
        public float[] forward(int[] tokens, int firstPosition) {
            logits++;
            return behindIs(Float.POSITIVE_INFINITY, pass.forward(tokens, firstPosition));
        }

        /** Engines' arrays have room for more. */
        private static float[] behindIs(float value, float[] logits) {
            float[] longer = Arrays.copyOf(logits, 2 * logits.length);
            Arrays.fill(longer, logits.length, longer.length, value);
            return longer;
        }

        @Override
        public void forward(int[] tokens, int firstPosition, int count, LogitsSink sink) {
            float[] all = pass.forward(tokens, firstPosition);
            if (Float.isFinite(all[4])) {
                candidates += count;
                sink.acceptCandidates(
                        firstPosition + tokens.length - 1,
                        RankedTokens.of(all, 0, program().vocabSize(), count));
            } else {
                sink.accept(firstPosition + tokens.length - 1, all, 0);
            }
        }

        @Override
        public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
            pass.forwardAll(tokens, firstPosition, sink);
        }

        @Override
        public void trace(TraceListener listener) {
            pass.trace(listener);
        }

        @Override
        public void close() {
            pass.close();
        }

        GenerationResult generate(SamplingOptions sampling, GenerationListener listener) {
            Generation generation = new Generation(
                    PROMPT,
                    16,
                    new Sampler(sampling, 9),
                    Optional.empty(),
                    GenerationOptions.ofTokens(3),
                    Optional.empty(),
                    listener);
            return new Generator(this, 1).generate(generation);
        }
    }

    @Test
    void aGreedyTextTakesTheLikeliestTokens() {
        Counting forward = Counting.saying();
        assertThat(forward.generate(SamplingOptions.GREEDY, GenerationListener.NONE)
                        .ids())
                .containsExactly(SAID);
        assertThat(forward.candidates).isEqualTo(3);
        assertThat(forward.logits).as("the prompt, but for its last token").isEqualTo(1);
    }

    @Test
    void aSampledTextTakesWhatTopKLeaves() {
        SamplingOptions sampling = new SamplingOptions(2, 4, 1, 0, 1, 5, false);
        Counting forward = Counting.saying();
        int[] ids = forward.generate(sampling, GenerationListener.NONE).ids();
        assertThat(forward.candidates).isEqualTo(4 * ids.length);
        assertThat(forward.logits).as("the prompt, but for its last token").isEqualTo(1);
        assertThat(Counting.saying().generate(sampling, _ -> {}).ids()).containsExactly(ids);
    }

    @Test
    void aListenerThatHearsOfChoicesGetsLogits() {
        Counting forward = Counting.saying();
        assertThat(forward.generate(SamplingOptions.GREEDY, _ -> {}).ids()).containsExactly(SAID);
        assertThat(forward.candidates).isZero();
    }

    @Test
    void whatChangesLogitsGetsThem() {
        LogitChanges bias = new LogitChanges(0, 0, Map.of(1, 2.0));
        Counting forward = Counting.saying();
        forward.generate(SamplingOptions.DEFAULT, GenerationListener.NONE);
        forward.generate(PENALIZING, GenerationListener.NONE);
        GenerationResult biased = forward.generate(SamplingOptions.GREEDY.withChanges(bias), GenerationListener.NONE);
        assertThat(biased.ids()).containsExactly(1, 1, 1);
        assertThat(forward.candidates).isZero();
    }

    @Test
    void aLogitThatIsNotFiniteIsNamedEitherWay() {
        for (GenerationListener listener : new GenerationListener[] {GenerationListener.NONE, _ -> {}}) {
            Counting forward = new Counting(
                    new ScriptedForwardPass(9, 16, (sequence, logits) -> logits[4] = Float.NEGATIVE_INFINITY));
            assertThatThrownBy(() -> forward.generate(SamplingOptions.GREEDY, listener))
                    .isInstanceOf(NonFiniteLogitException.class)
                    .hasMessageContaining("logit 4 at position 1 is -Infinity");
        }
    }
}
