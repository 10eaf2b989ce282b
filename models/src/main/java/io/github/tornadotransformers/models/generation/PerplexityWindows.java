package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * The windows in which a text is measured, each a {@link Sequence}: they may run one after the other or together, on any engine. The
 * result is the same to the bit.
 */
public final class PerplexityWindows {
    /** Bounds the logits that an engine holds at once. */
    private static final int CHUNK = 128;

    private final int[] ids;
    private final int vocabSize;
    private final IntConsumer progress;
    /** Of each id but the last, how surprising the next one was. */
    private final double[] surprises;

    private final List<Sequence> sequences = new ArrayList<>();
    private Optional<RuntimeException> failure = Optional.empty();
    private int counted;

    /**
     * @param ids with the model's start token in front, where it was trained with one
     * @param window tokens that run as one text
     * @param stride from one window to the next
     * @param progress gets the number of predictions that have been counted, as it grows to {@code ids.length - 1}
     * @throws InvalidRequest if there are fewer than two ids, one is outside the vocabulary, the window is less than 1, or the
     *     stride not in {@code [1, window]}
     */
    public PerplexityWindows(int[] ids, int vocabSize, int window, int stride, IntConsumer progress) {
        if (ids.length < 2) {
            throw new InvalidRequest("the text has " + ids.length + (ids.length == 1 ? " token" : " tokens")
                    + "; perplexity needs 2, to predict one from the other");
        }
        if (window < 1 || stride < 1 || stride > window) {
            throw new InvalidRequest("window " + window + " and stride " + stride + ": expected 1 <= stride <= window");
        }
        TokenIds.requireInVocabulary("token", ids, vocabSize);
        this.ids = ids.clone();
        this.vocabSize = vocabSize;
        this.progress = progress;
        surprises = new double[ids.length - 1];
        int end = 0;
        for (int begin = 0; end < surprises.length; begin += stride) {
            int from = end;
            end = Math.min(begin + window, surprises.length);
            sequences.add(new Window(begin, from, end));
        }
    }

    /** All of them are to be run. */
    public List<Sequence> sequences() {
        return List.copyOf(sequences);
    }

    /** @throws NonFiniteLogitException if a logit is NaN or infinite; its position is the id's index */
    public Perplexity result() {
        if (failure.isPresent()) {
            throw failure.get();
        }
        if (counted < surprises.length) {
            throw new IllegalStateException("not all windows have been run");
        }
        double sum = 0;
        for (double surprise : surprises) {
            sum += surprise;
        }
        double mean = sum / surprises.length;
        return new Perplexity(surprises.length, mean, StrictMath.exp(mean));
    }

    /** Runs the ids {@code [begin, end)} and counts what is predicted from {@code [next, end)}. */
    private final class Window implements Sequence {
        private final int begin;
        private final int end;
        private int next;
        private boolean counts;

        Window(int begin, int next, int end) {
            this.begin = begin;
            this.next = next;
            this.end = end;
            counts = next == begin;
        }

        @Override
        public int positions() {
            return end - begin;
        }

        /** What comes next is known: all guesses are right. */
        @Override
        public Step next(int mostGuesses) {
            if (!counts) {
                return new Step(0, Arrays.copyOfRange(ids, begin, next), 0);
            }
            int count = Math.min(end - next, Math.min(mostGuesses, CHUNK - 1) + 1);
            return new Step(next - begin, Arrays.copyOfRange(ids, next, next + count), count - 1);
        }

        @Override
        public Optional<StopReason> accept(float[] logits, int offset) {
            if (!counts) {
                counts = true;
                return Optional.empty();
            }
            Logits.requireFinite(logits, offset, vocabSize, next);
            surprises[next] = Logits.negativeLogLikelihood(logits, offset, vocabSize, ids[next + 1]);
            next++;
            progress.accept(++counted);
            return next == end ? Optional.of(StopReason.LENGTH) : Optional.empty();
        }

        @Override
        public void ended(StopReason reason) {}

        @Override
        public void failed(RuntimeException thrown) {
            failure = failure.or(() -> Optional.of(thrown));
        }
    }
}
