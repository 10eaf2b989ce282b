package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * How well a model predicts a text: the mean negative log-likelihood of every token but the first, each predicted from those
 * before it.
 *
 * <p>A text longer than the context is run in windows of {@code context} inputs, {@code stride} apart. The first window
 * counts the predictions of all its inputs, each later one those of its last {@code stride}, so that every token counts once
 * and has at least {@code context - stride} tokens before it, or all there are.
 *
 * @param tokens how many predictions were counted
 * @param meanNll in nats a token
 * @param perplexity {@code exp(meanNll)}
 */
public record Perplexity(int tokens, double meanNll, double perplexity) {
    /** Bounds the logits that an engine holds at once. */
    private static final int CHUNK = 128;

    /** Windows as long as the forward pass's context, half a window apart. */
    public static Perplexity of(ForwardPass forward, int[] ids) {
        return of(forward, ids, _ -> {});
    }

    /**
     * As {@link #of(ForwardPass, int[])}.
     *
     * @param progress gets the number of predictions that have been counted, as it grows to {@code ids.length - 1}
     */
    public static Perplexity of(ForwardPass forward, int[] ids, IntConsumer progress) {
        int context = forward.program().contextLength();
        return of(forward, ids, context, Math.max(1, context / 2), progress);
    }

    /**
     * @param ids with the model's start token in front, where it was trained with one
     * @throws InvalidRequest if there are fewer than two ids, one is outside the vocabulary, the window is not in
     *     {@code [1, contextLength]} or the stride not in {@code [1, window]}
     * @throws NonFiniteLogitException if a logit is NaN or infinite; its position is the id's index
     */
    public static Perplexity of(ForwardPass forward, int[] ids, int window, int stride) {
        return of(forward, ids, window, stride, _ -> {});
    }

    private static Perplexity of(ForwardPass forward, int[] ids, int window, int stride, IntConsumer progress) {
        if (ids.length < 2) {
            throw new InvalidRequest("the text has " + ids.length + (ids.length == 1 ? " token" : " tokens")
                    + "; perplexity needs 2, to predict one from the other");
        }
        if (window < 1 || window > forward.program().contextLength() || stride < 1 || stride > window) {
            throw new InvalidRequest("window " + window + " and stride " + stride + ": expected 1 <= stride <="
                    + " window <= context " + forward.program().contextLength());
        }
        TokenIds.requireInVocabulary("token", ids, forward.program().vocabSize());
        Sum sum = new Sum(ids, forward.program().vocabSize(), progress);
        int inputs = ids.length - 1;
        int counted = 0;
        for (int begin = 0; counted < inputs; begin += stride) {
            int end = Math.min(begin + window, inputs);
            run(forward, ids, begin, counted, end, sum);
            counted = end;
        }
        double mean = sum.nll / counted;
        return new Perplexity(counted, mean, StrictMath.exp(mean));
    }

    /** Runs the inputs {@code [begin, end)} as one sequence and adds the predictions of {@code [counted, end)}. */
    private static void run(ForwardPass forward, int[] ids, int begin, int counted, int end, Sum sum) {
        for (int from = begin; from < end; ) {
            int to = Math.min(from + CHUNK, from < counted ? counted : end);
            int[] chunk = Arrays.copyOfRange(ids, from, to);
            if (from < counted) {
                forward.forward(chunk, from - begin);
            } else {
                forward.forwardAll(
                        chunk, from - begin, (position, logits, offset) -> sum.add(begin + position, logits, offset));
            }
            from = to;
        }
    }

    /** The running sum of negative log-likelihoods. */
    private static final class Sum {
        private final int[] ids;
        private final int vocabSize;
        private final IntConsumer progress;
        private double nll;

        Sum(int[] ids, int vocabSize, IntConsumer progress) {
            this.ids = ids;
            this.vocabSize = vocabSize;
            this.progress = progress;
        }

        void add(int index, float[] logits, int offset) {
            Logits.requireFinite(logits, offset, vocabSize, index);
            nll += Logits.negativeLogLikelihood(logits, offset, vocabSize, ids[index + 1]);
            progress.accept(index + 1);
        }
    }
}
