package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;

/**
 * How a token is drawn from the logits; {@link Sampler} says in which order.
 *
 * @param temperature divides the logits; 0 is greedy
 * @param topK how many of the likeliest tokens stay; 0: all
 * @param topP share of the probability that stays, in (0, 1]; 1: all
 * @param minP smallest probability that stays, as a share of the likeliest token's, in [0, 1]; 0: all
 * @param repetitionPenalty what makes a token that occurred before less likely: a positive logit is divided by it, a negative
 *     one multiplied; 1: nothing
 * @param seed the same seed gives the same tokens for the same logits
 * @param greedy whether the likeliest token is taken instead of drawing one
 * @param changes of logits, before all of this but the repetition penalty
 */
public record SamplingOptions(
        double temperature,
        int topK,
        double topP,
        double minP,
        double repetitionPenalty,
        long seed,
        boolean greedy,
        LogitChanges changes) {
    /** What is done when nothing is said. */
    public static final SamplingOptions DEFAULT = new SamplingOptions(0.9, 40, 1, 0, 1, 42, false);

    /** Always the likeliest token, the one with the lowest id where several are. */
    public static final SamplingOptions GREEDY = new SamplingOptions(0, 0, 1, 0, 1, 0, true);

    /** Without changes of logits. */
    public SamplingOptions(
            double temperature,
            int topK,
            double topP,
            double minP,
            double repetitionPenalty,
            long seed,
            boolean greedy) {
        this(temperature, topK, topP, minP, repetitionPenalty, seed, greedy, LogitChanges.NONE);
    }

    /** @throws InvalidRequest if a value is outside its range */
    public SamplingOptions {
        require(temperature >= 0 && Double.isFinite(temperature), Term.TEMPERATURE, temperature, "0 (greedy) or more");
        require(topK >= 0, Term.TOP_K, topK, "0 (all tokens) or more");
        require(topP > 0 && topP <= 1, Term.TOP_P, topP, "more than 0 and at most 1 (all tokens)");
        require(minP >= 0 && minP <= 1, Term.MIN_P, minP, "0 (all tokens) to 1");
        require(
                repetitionPenalty > 0 && Double.isFinite(repetitionPenalty),
                Term.REPETITION_PENALTY,
                repetitionPenalty,
                "more than 0 (1: no penalty)");
    }

    /** Whether no random number is needed. */
    public boolean deterministic() {
        return greedy || temperature == 0;
    }

    public SamplingOptions withSeed(long other) {
        return new SamplingOptions(temperature, topK, topP, minP, repetitionPenalty, other, greedy, changes);
    }

    public SamplingOptions withChanges(LogitChanges others) {
        return new SamplingOptions(temperature, topK, topP, minP, repetitionPenalty, seed, greedy, others);
    }

    private static void require(boolean holds, Term option, Number found, String expected) {
        if (!holds) {
            throw new InvalidRequest(Wording.of("%s is %s, expected %s", option, found, expected));
        }
    }
}
