package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RankedTokens;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SamplerTest {
    @Test
    void greedyTakesTheLargestAndOfEqualsTheLowestId() {
        Sampler sampler = new Sampler(SamplingOptions.GREEDY, 5);
        assertEquals(2, sampler.sample(new float[] {1, 2, 3, 3, -7}, 0, 0));
        assertEquals(0, sampler.sample(new float[] {0f, -0f, 0f, -1, -1}, 0, 0));
    }

    @Test
    void temperatureZeroIsGreedy() {
        Sampler sampler = new Sampler(new SamplingOptions(0, 0, 1, 0, 1, 9, false), 3);
        assertEquals(1, sampler.sample(new float[] {1, 2, 2}, 0, 0));
    }

    @Test
    void topKOfOneIsGreedy() {
        Sampler sampler = new Sampler(new SamplingOptions(5, 1, 1, 0, 1, 9, false), 3);
        for (int i = 0; i < 50; i++) {
            assertEquals(1, sampler.sample(new float[] {1, 2, 2}, 0, 0));
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void aLogitThatIsNoNumberIsNamed(float logit) {
        float[] logits = new float[40];
        logits[17] = logit;
        logits[18] = Float.NaN;
        Sampler sampler = new Sampler(SamplingOptions.GREEDY, logits.length);
        assertThat(assertThrows(NonFiniteLogitException.class, () -> sampler.sample(logits, 0, 4)))
                .hasMessage("logit 17 at position 4 is " + logit
                        + ": the weights or the device are broken; compare with engine scalar");
    }

    @Test
    void whatLiesBehindTheVocabularyIsNotLookedAt() {
        Sampler sampler = new Sampler(SamplingOptions.GREEDY, 2);
        assertEquals(1, sampler.sample(new float[] {1, 2, 3, Float.NaN}, 0, 0));
    }

    @Test
    void theLogitsAreLeftAsTheyAre() {
        float[] logits = {1, -2, 3};
        Sampler sampler = new Sampler(new SamplingOptions(0.5, 2, 0.9, 0.01, 2, 1, false), 3);
        IntStream.range(0, 3).forEach(sampler::observe);
        sampler.sample(logits, 0, 0);
        assertThat(logits).containsExactly(1, -2, 3);
    }

    @Test
    void aRepeatedTokenIsMadeLessLikelyWhateverItsSign() {
        SamplingOptions options = new SamplingOptions(0, 0, 1, 0, 2, 1, true);
        assertEquals(0, new Sampler(options, 2).sample(new float[] {3, 2}, 0, 0));
        assertEquals(1, observing(options, 0).sample(new float[] {3, 2}, 0, 0));
        assertEquals(0, new Sampler(options, 2).sample(new float[] {-2, -3}, 0, 0));
        assertEquals(1, observing(options, 0).sample(new float[] {-2, -3}, 0, 0));
        assertEquals(1, observing(options, 0).sample(new float[] {-0.5f, -0.75f}, 0, 0));
        assertEquals(1, observing(options, 0).sample(new float[] {0.5f, 0.375f}, 0, 0));
    }

    @ParameterizedTest
    @CsvSource({"1e-40, 5", "1e-40, 0.5", "1e300, -5", "1e300, -0.5", "4.9e-324, 1e-10"})
    void aPenaltyThatMakesALogitInfiniteIsNamed(double penalty, float logit) {
        float[] logits = {1, logit};
        for (SamplingOptions options : List.of(
                new SamplingOptions(0, 0, 1, 0, penalty, 1, true),
                new SamplingOptions(0.9, 40, 1, 0, penalty, 1, false))) {
            assertThat(assertThrows(
                            InvalidRequest.class, () -> observing(options, 1).sample(logits, 0, 3)))
                    .hasMessage("repetitionPenalty is " + penalty + ", which makes logit 1 at position 3 infinite"
                            + " (it is " + logit + "): choose a value nearer to 1");
        }
    }

    @Test
    void aPenaltyOfALogitThatStaysFiniteIsTaken() {
        SamplingOptions options = new SamplingOptions(0, 0, 1, 0, 1e-38, 1, true);
        assertEquals(1, observing(options, 0, 1).sample(new float[] {0, 3}, 0, 0));
        assertEquals(1, observing(options, 1).sample(new float[] {-1, -0f}, 0, 0));
    }

    /** Nothing behind the penalty can lose it: extremes of every filter still draw a token that has a weight. */
    @ParameterizedTest
    @CsvSource({
        "4.9e-324, 0, 1, 0",
        "4.9e-324, 2, 0.9, 0",
        "1.7e308, 0, 1, 0",
        "1.7e308, 0, 0.5, 1",
        "1, 0, 4.9e-324, 0",
        "4.9e-324, 0, 4.9e-324, 1"
    })
    void extremeFiltersOfExtremeLogitsDrawAToken(double temperature, int topK, double topP, double minP) {
        float[] logits = {-Float.MAX_VALUE, Float.MAX_VALUE, 0, Float.MIN_VALUE, -Float.MIN_VALUE};
        SamplingOptions options = new SamplingOptions(temperature, topK, topP, minP, 1, 7, false);
        Sampler sampler = new Sampler(options, logits.length);
        SplitMix64 numbers = new SplitMix64(7);
        for (int draw = 0; draw < 20; draw++) {
            assertEquals(naive(logits, options, numbers), sampler.sample(logits, 0, draw));
        }
    }

    @Test
    void aTokenThatCameTwiceIsPenalizedOnce() {
        SamplingOptions options = new SamplingOptions(0, 0, 1, 0, 2, 1, true);
        assertEquals(0, observing(options, 0, 0).sample(new float[] {3, 1}, 0, 0));
    }

    private static Sampler observing(SamplingOptions options, int... ids) {
        Sampler sampler = new Sampler(options, 2);
        Arrays.stream(ids).forEach(sampler::observe);
        return sampler;
    }

    /** Pinned: a seed means the same tokens in every release. */
    @Test
    void theTokensOfASeedStayTheSame() {
        float[] logits = new float[50];
        for (int id = 0; id < logits.length; id++) {
            logits[id] = id * 37 % 50 / 8f;
        }
        Sampler sampler = new Sampler(SamplingOptions.DEFAULT, logits.length);
        assertThat(IntStream.range(0, 16).map(_ -> sampler.sample(logits, 0, 0)).toArray())
                .containsExactly(32, 5, 12, 16, 4, 39, 8, 35, 13, 28, 8, 27, 27, 27, 31, 8);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1, 2})
    void tokensAreDrawnAsOftenAsTheyAreLikely(double temperature) {
        float[] logits = {0, 1, -1, 0.5f, 2};
        double[] likelihood = new double[logits.length];
        for (int id = 0; id < logits.length; id++) {
            likelihood[id] = Math.exp(logits[id] / temperature);
        }
        double sum = Arrays.stream(likelihood).sum();
        int draws = 50_000;
        int[] drawn = new int[logits.length];
        Sampler sampler = new Sampler(new SamplingOptions(temperature, 0, 1, 0, 1, 7, false), logits.length);
        for (int i = 0; i < draws; i++) {
            drawn[sampler.sample(logits, 0, i)]++;
        }
        double chiSquare = 0;
        for (int id = 0; id < logits.length; id++) {
            double expected = draws * likelihood[id] / sum;
            chiSquare += (drawn[id] - expected) * (drawn[id] - expected) / expected;
        }
        assertThat(chiSquare)
                .as("chi-square with 4 degrees of freedom, above 23.5 once in 10,000 seeds: %s", Arrays.toString(drawn))
                .isLessThan(23.5);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 0, 1, 0", "1, 1, 1, 0", "1, 5, 1, 0", "0.7, 40, 1, 0", "1, 100000, 1, 0", "1, 0, 0.5, 0", "1, 0, 0.999, 0",
        "1, 0, 1e-9, 0", "1, 7, 0.8, 0", "1, 0, 1, 0.2", "1, 0, 1, 1", "1.3, 20, 0.9, 0.05", "1e-6, 0, 0.9, 0",
                "100, 0, 0.9, 0.9"
    })
    void filtersAreThoseOfTheirDefinitions(double temperature, int topK, double topP, double minP) {
        RandomData random = new RandomData(topK + (long) (topP * 1000));
        for (int round = 0; round < 60; round++) {
            SamplingOptions options = new SamplingOptions(temperature, topK, topP, minP, 1, round, false);
            float[] logits = round % 2 == 0 ? random.floats(random.size(389)) : withTies(random);
            Sampler sampler = new Sampler(options, logits.length);
            SplitMix64 numbers = new SplitMix64(round);
            for (int draw = 0; draw < 5; draw++) {
                assertEquals(naive(logits, options, numbers), sampler.sample(logits, 0, draw), Arrays.toString(logits));
            }
        }
    }

    /** On the way to a device's candidates no bit of a weight may change: the same tokens for the same seed. */
    @ParameterizedTest
    @CsvSource({
        "0, 0, 1, 0",
        "1, 1, 1, 0",
        "1, 5, 1, 0",
        "0.7, 40, 1, 0",
        "1, 64, 1, 0",
        "1, 7, 0.8, 0",
        "1, 33, 0.999, 0",
        "1, 2, 1e-9, 0",
        "1, 9, 1, 0.2",
        "1, 9, 1, 1",
        "1.3, 20, 0.9, 0.05",
        "1e-6, 3, 0.9, 0",
        "100, 40, 0.9, 0.9"
    })
    void candidatesGiveWhatAllLogitsGive(double temperature, int topK, double topP, double minP) {
        RandomData random = new RandomData(topK + (long) (topP * 1000));
        for (int round = 0; round < 200; round++) {
            SamplingOptions options = new SamplingOptions(temperature, topK, topP, minP, 1, round, false);
            int vocabSize = random.between(topK + 1, 500);
            Sampler all = new Sampler(options, vocabSize);
            Sampler few = new Sampler(options, vocabSize);
            assertEquals(Math.max(1, topK), few.candidates());
            for (int draw = 0; draw < 5; draw++) {
                float[] logits = draw % 2 == 0 ? random.wildFloats(vocabSize) : tied(random, vocabSize);
                Candidates found = RankedTokens.of(logits, 0, vocabSize, few.candidates());
                assertEquals(all.sample(logits, 0, draw), few.sample(found), Arrays.toString(logits));
            }
        }
    }

    /** Quarters from -1 on, and zeros of both signs. */
    private static float[] tied(RandomData random, int count) {
        int[] values = random.ints(count, 9);
        float[] logits = new float[count];
        for (int id = 0; id < count; id++) {
            logits[id] = values[id] == 8 ? -0f : (values[id] - 4) / 4f;
        }
        return logits;
    }

    @Test
    void allLogitsAreNeededWhereMoreThanTheLargestMatter() {
        SamplingOptions some = SamplingOptions.DEFAULT;
        assertEquals(40, new Sampler(some, 41).candidates());
        assertEquals(0, new Sampler(some, 40).candidates(), "all of them");
        assertEquals(0, new Sampler(new SamplingOptions(1, 0, 0.9, 0, 1, 1, false), 99).candidates());
        assertEquals(0, new Sampler(new SamplingOptions(1, 40, 1, 0, 1.1, 1, false), 99).candidates());
        for (LogitChanges changes : List.of(
                new LogitChanges(0.5, 0, Map.of()),
                new LogitChanges(0, 0.5, Map.of()),
                new LogitChanges(0, 0, Map.of(1, 2.0)))) {
            assertEquals(0, new Sampler(some.withChanges(changes), 99).candidates());
            assertEquals(0, new Sampler(greedy(changes), 99).candidates());
        }
        Candidates found = RankedTokens.of(new float[99], 0, 99, 39);
        assertThat(assertThrows(IllegalArgumentException.class, () -> new Sampler(some, 99).sample(found)))
                .hasMessage("39 candidates, expected 40");
    }

    @ParameterizedTest
    @CsvSource({"3, 0.97", "0.3, 0.9", "1, 0.999999", "100, 0.5"})
    void filtersAreThoseOfTheirDefinitionsForALargeVocabulary(double temperature, double topP) {
        float[] logits = new RandomData(5).wildFloats(20_011);
        SamplingOptions options = new SamplingOptions(temperature, 0, topP, 0, 1, 1, false);
        Sampler sampler = new Sampler(options, logits.length);
        SplitMix64 numbers = new SplitMix64(1);
        for (int draw = 0; draw < 20; draw++) {
            assertEquals(naive(logits, options, numbers), sampler.sample(logits, 0, draw));
        }
    }

    private static float[] withTies(RandomData random) {
        int[] values = random.ints(random.size(257), 4);
        float[] logits = new float[values.length];
        for (int id = 0; id < logits.length; id++) {
            logits[id] = values[id] / 2f;
        }
        return logits;
    }

    /** Every filter as its definition says, on a sorted list. */
    private static int naive(float[] logits, SamplingOptions options, SplitMix64 numbers) {
        List<Integer> ranked = IntStream.range(0, logits.length)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer id) -> -logits[id]).thenComparingInt(id -> id))
                .toList();
        double largest = logits[ranked.getFirst()];
        double[] weight = new double[logits.length];
        for (int id : options.topK() == 0 ? ranked : ranked.subList(0, Math.min(options.topK(), ranked.size()))) {
            weight[id] = StrictMath.exp((logits[id] - largest) / options.temperature());
        }
        double share = options.topP() * Arrays.stream(weight).reduce(0, Double::sum);
        double reached = 0;
        for (int id : ranked) {
            if (options.topP() < 1 && reached >= share) {
                weight[id] = 0;
            }
            reached += weight[id];
        }
        for (int id : ranked) {
            weight[id] = weight[id] < options.minP() ? 0 : weight[id];
        }
        double target = numbers.nextDouble() * Arrays.stream(weight).reduce(0, Double::sum);
        double passed = 0;
        for (int id = 0; id < weight.length; id++) {
            passed += weight[id];
            if (passed > target) {
                return id;
            }
        }
        throw new AssertionError("nothing drawn");
    }

    private static SamplingOptions greedy(LogitChanges changes) {
        return SamplingOptions.GREEDY.withChanges(changes);
    }

    @Test
    void aBiasIsAddedAndPenaltiesGrowWithWhatTheAnswerHas() {
        float[] logits = {1, 2, 3, 2.5f};
        assertEquals(0, new Sampler(greedy(new LogitChanges(0, 0, Map.of(0, 2.5))), 4).sample(logits, 0, 0));
        Sampler frequency = new Sampler(greedy(new LogitChanges(0.3, 0, Map.of())), 4);
        frequency.observe(2);
        frequency.observe(2);
        assertEquals(2, frequency.sample(logits, 0, 0), "a prompt is not penalized");
        frequency.observeChosen(2);
        assertEquals(2, frequency.sample(logits, 0, 0));
        frequency.observeChosen(2);
        assertEquals(3, frequency.sample(logits, 0, 0));
        Sampler presence = new Sampler(greedy(new LogitChanges(0, 0.6, Map.of())), 4);
        presence.observeChosen(2);
        assertEquals(3, presence.sample(logits, 0, 0));
        presence.observeChosen(3);
        presence.observeChosen(3);
        assertEquals(2, presence.sample(logits, 0, 0));
        assertThat(logits).containsExactly(1, 2, 3, 2.5f);
        assertEquals(
                1,
                new Sampler(greedy(new LogitChanges(0, 0, Map.of(1, 100.0))), 2)
                                .sample(new float[] {Float.MAX_VALUE, Float.MAX_VALUE / 2}, 0, 0)
                        + 1);
    }

    @Test
    void changesOutsideTheirRangeAreRefused() {
        assertThrows(InvalidRequest.class, () -> new LogitChanges(2.1, 0, Map.of()));
        assertThrows(InvalidRequest.class, () -> new LogitChanges(0, Double.NaN, Map.of()));
        assertThrows(InvalidRequest.class, () -> new LogitChanges(0, 0, Map.of(1, -101.0)));
        SamplingOptions unknown = greedy(new LogitChanges(0, 0, Map.of(4, 1.0)));
        assertThrows(InvalidRequest.class, () -> new Sampler(unknown, 4));
    }
}
