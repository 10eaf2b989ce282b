package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is added to logits before a token is chosen, as OpenAI's protocol has it: {@code logit - count * frequencyPenalty -
 * (count > 0) * presencePenalty + bias}, where {@code count} is how often the answer has the token already.
 *
 * @param bias by token id
 */
public record LogitChanges(double frequencyPenalty, double presencePenalty, Map<Integer, Double> bias) {
    public static final LogitChanges NONE = new LogitChanges(0, 0, Map.of());

    private static final double MAX_PENALTY = 2;
    private static final double MAX_BIAS = 100;

    /** @throws InvalidRequest if a penalty is outside of -2 to 2, or a bias of -100 to 100 */
    public LogitChanges {
        requireWithin(Term.FREQUENCY_PENALTY, frequencyPenalty, MAX_PENALTY);
        requireWithin(Term.PRESENCE_PENALTY, presencePenalty, MAX_PENALTY);
        bias.values().forEach(each -> requireWithin(Term.LOGIT_BIAS, each, MAX_BIAS));
        bias = new TreeMap<>(bias);
    }

    private static void requireWithin(Term term, double value, double most) {
        if (!(Math.abs(value) <= most)) {
            throw new InvalidRequest(Wording.of("%s is %s, expected -%s to %s", term, value, most, most));
        }
    }

    boolean none() {
        return !penalizes() && bias.isEmpty();
    }

    boolean penalizes() {
        return frequencyPenalty != 0 || presencePenalty != 0;
    }
}
