package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PerplexityTest {
    private static final int VOCAB = 7;
    /** What follows depends on the last token alone, so that windows do not matter. */
    private static final ScriptedForwardPass.Script BIGRAMS = (sequence, logits) -> {
        for (int id = 0; id < VOCAB; id++) {
            logits[id] = (sequence[sequence.length - 1] * 5 + id * 3) % 11 / 4f;
        }
    };

    @Test
    void aModelThatKnowsNothingIsAsPerplexedAsItsVocabularyIsLarge() {
        Perplexity perplexity = Perplexity.of(new ScriptedForwardPass(VOCAB, 8, (_, _) -> {}), new int[] {1, 2, 3});
        assertEquals(2, perplexity.tokens());
        assertThat(perplexity.meanNll()).isCloseTo(Math.log(VOCAB), within(1e-12));
        assertThat(perplexity.perplexity()).isCloseTo(VOCAB, within(1e-12));
    }

    @Test
    void hugeLogitsDoNotOverflow() {
        ScriptedForwardPass forward = new ScriptedForwardPass(2, 4, (_, logits) -> logits[1] = 3e38f);
        assertEquals(0, Perplexity.of(forward, new int[] {0, 1}).meanNll());
        assertEquals(3e38f, Perplexity.of(forward, new int[] {1, 0}).meanNll());
    }

    @ParameterizedTest
    @CsvSource({"4, 2", "4, 4", "4, 1", "1, 1", "5, 3", "300, 150", "200, 7"})
    void everyTokenButTheFirstCountsOnce(int window, int stride) {
        int[] ids = new RandomData(1).ints(257, VOCAB);
        double expected = 0;
        for (int i = 1; i < ids.length; i++) {
            float[] logits = new float[VOCAB];
            BIGRAMS.fill(new int[] {ids[i - 1]}, logits);
            double sum = 0;
            for (float logit : logits) {
                sum += Math.exp(logit);
            }
            expected += Math.log(sum) - logits[ids[i]];
        }
        Perplexity perplexity = Perplexity.of(new ScriptedForwardPass(VOCAB, 300, BIGRAMS), ids, window, stride);
        assertEquals(256, perplexity.tokens());
        assertThat(perplexity.meanNll()).isCloseTo(expected / 256, within(1e-12));
    }

    @Test
    void progressCountsThePredictions() {
        List<Integer> counts = new ArrayList<>();
        Perplexity.of(new ScriptedForwardPass(VOCAB, 4, BIGRAMS), new int[8], counts::add);
        assertThat(counts).containsExactly(1, 2, 3, 4, 5, 6, 7);
    }

    @ParameterizedTest
    @CsvSource({"0, 0 tokens", "1, 1 token"})
    void aTextWithNothingToPredictIsRefused(int tokens, String found) {
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, 4, BIGRAMS);
        assertThat(assertThrows(InvalidRequest.class, () -> Perplexity.of(forward, new int[tokens])))
                .hasMessage("the text has " + found + "; perplexity needs 2, to predict one from the other");
    }

    @Test
    void windowsOverlapAndOnlyNewPredictionsAreAskedFor() {
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, 4, BIGRAMS);
        Perplexity.of(forward, new int[8]);
        assertThat(forward.calls()).containsExactly("0+4 all", "0+2", "2+2 all", "0+2", "2+1");
    }

    @Test
    void longWindowsRunInChunks() {
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, 300, BIGRAMS);
        Perplexity.of(forward, new int[301]);
        assertThat(forward.calls()).containsExactly("0+128 all", "128+128 all", "256+44 all");
    }

    @Test
    void aTextOfOneTokenHasNothingToPredict() {
        assertThat(refused(new int[] {1}, 4, 2)).contains("the text has 1 token", "needs 2");
    }

    @Test
    void anIdOutsideTheVocabularyIsNamed() {
        assertThat(refused(new int[] {1, 7}, 4, 2)).contains("token id 7 (number 2)", "vocab_size is 7");
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "5, 1", "4, 0", "4, 5"})
    void windowAndStrideAreChecked(int window, int stride) {
        assertThat(refused(new int[] {1, 2}, window, stride)).contains("window " + window + " and stride " + stride);
    }

    @Test
    void aLogitThatIsNoNumberIsNamedWithItsPlaceInTheText() {
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, 4, (sequence, logits) -> {
            BIGRAMS.fill(sequence, logits);
            logits[3] = sequence[sequence.length - 1] == 6 ? Float.NaN : 0;
        });
        assertThat(assertThrows(
                        NonFiniteLogitException.class,
                        () -> Perplexity.of(forward, new int[] {0, 1, 2, 3, 4, 5, 6, 0, 1})))
                .hasMessageStartingWith("logit 3 at position 6 is NaN");
    }

    private static String refused(int[] ids, int window, int stride) {
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, 4, BIGRAMS);
        return assertThrows(InvalidRequest.class, () -> Perplexity.of(forward, ids, window, stride))
                .getMessage();
    }
}
