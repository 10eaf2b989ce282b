package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.generation.Guesser;
import io.github.tornadotransformers.models.generation.NonFiniteLogitException;
import io.github.tornadotransformers.models.generation.Sampler;
import java.util.Arrays;

/**
 * Guesses what a smaller model of the same vocabulary would say, drawing with the same random numbers: where the two models agree,
 * so do their draws. Of one text.
 *
 * <p>Source: Leviathan et al. 2023, arXiv:2211.17192, with exact matches instead of rejection sampling.
 */
public final class DraftModel implements Guesser {
    private static final int[] NO_GUESS = {};

    /** Bounds an engine's activations. */
    private static final int CHUNK = 512;

    private final Engine engine;
    private final KvCache cache;
    private final Sampler sampler;
    private final int vocabSize;
    /** What the cache holds, in front of {@code cache.length()}. */
    private int[] run = {};

    private int observed;

    /**
     * @param engine of the smaller model; others may run on it as well
     * @param sampler of its own, with the options of the text's
     */
    public DraftModel(Engine engine, Sampler sampler) {
        this.engine = engine;
        this.sampler = sampler;
        vocabSize = engine.program().vocabSize();
        cache = engine.open(engine.program().contextLength());
    }

    @Override
    public int[] guess(int[] ids, int length, int chosen, int most) {
        int count = Math.min(most, cache.positions() - length + 1);
        if (count < 1 || !observe(ids, length)) {
            return NO_GUESS;
        }
        int[] guesses = new int[count];
        int[] text = Arrays.copyOf(ids, length + count);
        for (int i = 0; i < count; i++) {
            try {
                guesses[i] = next(text, length + i, chosen + i);
            } catch (CacheFullException | NonFiniteLogitException _) {
                return Arrays.copyOf(guesses, i);
            }
            text[length + i] = guesses[i];
        }
        return guesses;
    }

    /** Whether the model knows all ids. */
    private boolean observe(int[] ids, int length) {
        for (; observed < length && ids[observed] < vocabSize; observed++) {
            sampler.observe(ids[observed]);
        }
        return observed == length;
    }

    private int next(int[] text, int length, int chosen) {
        int known = Math.min(cache.length(), run.length);
        int mismatch = Arrays.mismatch(run, 0, known, text, 0, length - 1);
        int from = mismatch < 0 ? known : mismatch;
        Next next = new Next();
        for (int end; from < length; from = end) {
            end = Math.min(length, from + CHUNK);
            Wanted wanted = end == length ? Wanted.LAST : Wanted.NONE;
            engine.run(
                    Batch.of(new Span(cache, from, Arrays.copyOfRange(text, from, end), wanted)),
                    (_, position, logits, offset) -> next.id = sampler.sampleAs(chosen, logits, offset, position));
        }
        run = Arrays.copyOf(text, length);
        return next.id;
    }

    @Override
    public void close() {
        cache.close();
    }

    private static final class Next {
        private int id;
    }
}
