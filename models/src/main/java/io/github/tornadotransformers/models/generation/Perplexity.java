package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
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
        if (window > forward.program().contextLength()) {
            throw new InvalidRequest("window " + window + " and stride " + stride + ": expected 1 <= stride <="
                    + " window <= context " + forward.program().contextLength());
        }
        PerplexityWindows windows = new PerplexityWindows(ids, forward.program().vocabSize(), window, stride, progress);
        Generator generator = new Generator(forward);
        windows.sequences().forEach(generator::run);
        return windows.result();
    }
}
