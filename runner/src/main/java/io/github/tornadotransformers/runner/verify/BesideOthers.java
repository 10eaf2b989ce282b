package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A sequence beside others, of random tokens and of several lengths, which come and go: whoever compares it with one that runs alone
 * sees whether its results depend on them.
 */
public final class BesideOthers implements ForwardPass {
    /** Of this sequence, in one batch; so few that the others run with them. */
    private static final int MOST_TOKENS = 32;

    private static final int LONGEST_SPAN = 3;

    private final Engine engine;
    private final KvCache cache;
    private final List<KvCache> others = new ArrayList<>();
    private final Random random;
    private float[] logits;

    /**
     * @param engine closed by whoever has opened it
     * @param neighbours how many others there are, 1 or more
     */
    public BesideOthers(Engine engine, int neighbours, long seed) {
        this.engine = engine;
        this.random = new Random(seed);
        cache = engine.open(engine.program().contextLength());
        logits = new float[engine.program().vocabSize()];
        for (int i = 0; i < neighbours; i++) {
            others.add(another());
        }
    }

    private KvCache another() {
        return engine.open(1 + random.nextInt(engine.program().contextLength()));
    }

    @Override
    public Program program() {
        return engine.program();
    }

    @Override
    public void trace(TraceListener listener) {
        engine.trace(listener);
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        for (int from = 0; from < tokens.length; from += MOST_TOKENS) {
            int to = Math.min(tokens.length, from + MOST_TOKENS);
            int[] piece = Arrays.copyOfRange(tokens, from, to);
            Wanted wanted = to == tokens.length ? Wanted.LAST : Wanted.NONE;
            run(
                    new Span(cache, firstPosition + from, piece, wanted),
                    (_, all, offset) -> System.arraycopy(all, offset, logits, 0, logits.length));
        }
        return logits;
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        for (int from = 0; from < tokens.length; from += MOST_TOKENS) {
            int to = Math.min(tokens.length, from + MOST_TOKENS);
            run(new Span(cache, firstPosition + from, Arrays.copyOfRange(tokens, from, to), Wanted.ALL), sink);
        }
    }

    private void run(Span own, LogitsSink sink) {
        List<Span> spans = new ArrayList<>(List.of(own));
        for (int i = 0; i < others.size(); i++) {
            spans.add(next(i));
        }
        engine.run(new Batch(spans), (span, position, all, offset) -> {
            if (span == 0) {
                sink.accept(position, all, offset);
            }
        });
    }

    /** The next tokens of another sequence; one that has no room left makes way for a new one. */
    private Span next(int index) {
        KvCache other = others.get(index);
        int room = other.positions() - other.length();
        if (room == 0) {
            other.close();
            other = another();
            others.set(index, other);
            room = other.positions();
        }
        int count = 1 + random.nextInt(Math.min(room, LONGEST_SPAN));
        int[] tokens = random.ints(count, 0, engine.program().vocabSize()).toArray();
        Wanted wanted = Wanted.values()[random.nextInt(Wanted.values().length)];
        return new Span(other, other.length(), tokens, wanted);
    }

    @Override
    public void close() {
        cache.close();
        others.forEach(KvCache::close);
    }
}
