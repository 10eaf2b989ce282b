package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Chooses tokens from logits, the same ones for the same logits and seed on every JVM: its arithmetic is double, its
 * exponential {@link StrictMath}'s, its random numbers {@link SplitMix64}'s, one for each token that is drawn.
 *
 * <p>The order is that of Hugging Face's {@code generate}:
 * <ol>
 *   <li>repetition penalty, on the logits of every id that occurred before, prompt included, once
 *   <li>penalties for what the answer has already, and biases: {@link LogitChanges}
 *   <li>greedy ends here: the largest, the lowest id where several are
 *   <li>temperature: {@code weight = exp((logit - largest) / temperature)}
 *   <li>top-k: the first k in rank; equal logits rank by id, so exactly k stay
 *   <li>top-p: the shortest run of ranks whose weights reach p of the sum of what top-k left
 *   <li>min-p: weights of at least minP times the largest
 *   <li>a draw by weight among what is left, walked by rising id
 * </ol>
 *
 * <p>Not safe for use by several threads.
 */
public final class Sampler {
    /** How many ranks are looked at first when top-p alone limits them; most nuclei are smaller. */
    private static final int FIRST_NUCLEUS = 256;

    private final SamplingOptions options;
    private final int vocabSize;
    private SplitMix64 random;
    private final BitSet seen;
    /** How often each token is in the answer; where nobody asks, empty. */
    private final int[] counts;

    private float[] copied = {};
    private final float[] penalized;
    private final RankedLogits ranked;
    private final int[] kept;
    private final double[] weights;

    public Sampler(SamplingOptions options, int vocabSize) {
        this.options = options;
        this.vocabSize = vocabSize;
        random = new SplitMix64(options.seed());
        seen = new BitSet(vocabSize);
        boolean draws = !options.deterministic();
        boolean changes = options.repetitionPenalty() != 1 || !options.changes().none();
        penalized = new float[changes ? vocabSize : 0];
        counts = new int[options.changes().penalizes() ? vocabSize : 0];
        options.changes()
                .bias()
                .keySet()
                .forEach(id -> TokenIds.requireInVocabulary("logit bias", new int[] {id}, vocabSize));
        ranked = new RankedLogits(draws ? vocabSize : 0);
        kept = new int[draws ? vocabSize : 0];
        weights = new double[draws ? vocabSize : 0];
    }

    public SamplingOptions options() {
        return options;
    }

    public int vocabSize() {
        return vocabSize;
    }

    /** How many of the largest logits, as they are, it chooses from; 0: it may need all. */
    int candidates() {
        if (options.repetitionPenalty() != 1 || !options.changes().none()) {
            return 0;
        }
        if (options.deterministic()) {
            return 1;
        }
        return limit() < vocabSize ? limit() : 0;
    }

    /** How many ranks top-k leaves. */
    private int limit() {
        return options.topK() == 0 ? vocabSize : Math.min(options.topK(), vocabSize);
    }

    /** Tells of an id that is now part of the text, for the repetition penalty. */
    public void observe(int id) {
        seen.set(id);
    }

    /** As {@link #observe}, of an id that was chosen, and counts for all penalties. */
    public void observeChosen(int id) {
        observe(id);
        if (counts.length > 0) {
            counts[id]++;
        }
    }

    /**
     * The next token. Does not {@link #observe} it.
     *
     * @param logits {@code [vocabSize]} from {@code offset} on, left as they are
     * @param position whose logits they are, for the message
     * @throws NonFiniteLogitException if a logit is NaN or infinite
     * @throws InvalidRequest if the repetition penalty makes a logit infinite
     */
    public int sample(float[] logits, int offset, int position) {
        Logits.requireFinite(logits, offset, vocabSize, position);
        float[] scores = offset == 0 ? logits : own(logits, offset);
        if (options.repetitionPenalty() != 1) {
            scores = penalize(scores, position);
        }
        if (!options.changes().none()) {
            scores = change(scores);
        }
        int likeliest = Logits.argmax(scores, vocabSize);
        if (options.deterministic()) {
            return likeliest;
        }
        if (limit() < vocabSize) {
            ranked.select(scores, limit());
        }
        return draw(keep(scores, scores[likeliest]));
    }

    /**
     * As {@link #sample(float[], int, int)}, with the same result.
     *
     * @param candidates as many as it {@linkplain #candidates() chooses from}
     */
    int sample(Candidates candidates) {
        int[] ids = candidates.ids();
        if (ids.length != candidates()) {
            throw new IllegalArgumentException(ids.length + " candidates, expected " + candidates());
        }
        if (options.deterministic()) {
            return ids[0];
        }
        float[] scores = ownScores();
        for (int rank = 0; rank < ids.length; rank++) {
            scores[ids[rank]] = candidates.logits()[rank];
        }
        ranked.take(ids);
        return draw(keep(scores, candidates.logits()[0]));
    }

    /**
     * As {@link #sample}, with the random number that the token after so many others is drawn with, whatever was drawn before.
     *
     * @param drawn tokens that were drawn before, 0 or more
     */
    public int sampleAs(int drawn, float[] logits, int offset, int position) {
        random = new SplitMix64(options.seed(), drawn);
        return sample(logits, offset, position);
    }

    private float[] own(float[] logits, int offset) {
        System.arraycopy(logits, offset, ownScores(), 0, vocabSize);
        return copied;
    }

    private float[] ownScores() {
        if (copied.length == 0) {
            copied = new float[vocabSize];
        }
        return copied;
    }

    private float[] penalize(float[] logits, int position) {
        System.arraycopy(logits, 0, penalized, 0, vocabSize);
        double penalty = options.repetitionPenalty();
        for (int id = seen.nextSetBit(0); id >= 0; id = seen.nextSetBit(id + 1)) {
            float logit = logits[id];
            penalized[id] = (float) (logit < 0 ? logit * penalty : logit / penalty);
            if (Float.isInfinite(penalized[id])) {
                throw new InvalidRequest(Wording.of(
                        "%s is %s, which makes logit %d at position %d infinite (it is %s): choose a value nearer to 1",
                        Term.REPETITION_PENALTY, penalty, id, position, logit));
            }
        }
        return penalized;
    }

    private float[] change(float[] logits) {
        System.arraycopy(logits, 0, penalized, 0, vocabSize);
        LogitChanges changes = options.changes();
        for (int id = 0; id < counts.length; id++) {
            if (counts[id] > 0) {
                double penalty = counts[id] * changes.frequencyPenalty() + changes.presencePenalty();
                penalized[id] = finite(penalized[id] - penalty);
            }
        }
        changes.bias().forEach((id, bias) -> penalized[id] = finite(penalized[id] + bias));
        return penalized;
    }

    private static float finite(double logit) {
        return (float) Math.clamp(logit, -Float.MAX_VALUE, Float.MAX_VALUE);
    }

    /**
     * Puts what the filters leave into {@code kept}, by rising id, and the weights beside it.
     *
     * @param scores where top-k leaves a part, it is ranked, and no others are looked at
     */
    private int keep(float[] scores, float largest) {
        int topK = limit();
        int count = topK;
        if (topK < vocabSize) {
            keepRanked(scores, largest, topK);
        } else {
            Arrays.setAll(kept, id -> id);
            weigh(scores, largest, vocabSize);
        }
        if (options.topP() < 1) {
            count = nucleus(scores, largest, topK, sum(topK));
            keepRanked(scores, largest, count);
        }
        return count;
    }

    private void keepRanked(float[] scores, float largest, int count) {
        for (int rank = 0; rank < count; rank++) {
            kept[rank] = ranked.id(rank);
        }
        Arrays.sort(kept, 0, count);
        weigh(scores, largest, count);
    }

    private void weigh(float[] scores, float largest, int count) {
        for (int i = 0; i < count; i++) {
            weights[i] = weight(scores[kept[i]], largest);
        }
    }

    private double weight(float score, float largest) {
        return StrictMath.exp(((double) score - largest) / options.temperature());
    }

    private double sum(int count) {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += weights[i];
        }
        return sum;
    }

    /** How many ranks reach p of {@code total}, the sum of the weights of the first {@code limit} ranks. */
    private int nucleus(float[] scores, float largest, int limit, double total) {
        double share = options.topP() * total;
        if (limit < vocabSize) {
            return reaching(share, scores, largest, limit);
        }
        int looked = Math.min(FIRST_NUCLEUS, vocabSize);
        ranked.select(scores, looked);
        int count = reaching(share, scores, largest, looked);
        if (count < looked || looked == vocabSize) {
            return count;
        }
        // All weights below this limit are together less than what the nucleus may leave out.
        looked = ranked.selectByWeight(scores, weights, (total - share) / vocabSize);
        return reaching(share, scores, largest, looked);
    }

    /** How many of the first {@code looked} ranks reach {@code share}; all of them if they do not. */
    private int reaching(double share, float[] scores, float largest, int looked) {
        double reached = 0;
        for (int rank = 0; rank < looked; rank++) {
            reached += weight(scores[ranked.id(rank)], largest);
            if (reached >= share) {
                return rank + 1;
            }
        }
        return looked;
    }

    private int draw(int count) {
        double total = 0;
        for (int i = 0; i < count; i++) {
            if (weights[i] < options.minP()) {
                weights[i] = 0;
            }
            total += weights[i];
        }
        double target = random.nextDouble() * total;
        double reached = 0;
        int last = 0;
        for (int i = 0; i < count; i++) {
            if (weights[i] > 0) {
                last = i;
                reached += weights[i];
                if (reached > target) {
                    break;
                }
            }
        }
        return kept[last];
    }
}
