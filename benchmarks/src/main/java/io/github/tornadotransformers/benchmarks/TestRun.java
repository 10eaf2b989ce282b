package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.generation.ForwardPass;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A test on a loaded model: random tokens, at the same positions every time it runs. */
abstract class TestRun implements AutoCloseable {
    private static final long SEED = 1;
    private static final double NANOS = 1e9;

    private final int steps;

    /** @param steps forward passes of a repetition */
    private TestRun(int steps) {
        this.steps = steps;
    }

    /** Fills the positions before the test's. */
    static TestRun open(EngineSession session, BenchTest test) {
        ForwardPass forward = session.forward();
        if (test.sequences() > 1) {
            return new Together(session.batches().orElseThrow(), test);
        }
        int[] tokens = tokens(test.tokens(), forward.program().vocabSize(), 0);
        if (test.depth() > 0) {
            forward.forward(tokens(test.depth(), forward.program().vocabSize(), 0), 0);
        }
        return test.phase() == BenchTest.Phase.PREFILL
                ? new Prompt(forward, tokens, test.depth())
                : new Alone(forward, tokens, test.depth());
    }

    private static int[] tokens(int count, int vocabSize, int sequence) {
        return new SplittableRandom(SEED + sequence).ints(count, 0, vocabSize).toArray();
    }

    /** Runs one of the test's forward passes. */
    abstract void step(int index);

    @Override
    public void close() {}

    /** Seconds of one repetition. */
    final double time() {
        long begun = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            step(i);
        }
        return (System.nanoTime() - begun) / NANOS;
    }

    /** Runs for so long, at least one step. */
    final void warmUp(double seconds) {
        long begun = System.nanoTime();
        long nanos = (long) (seconds * NANOS);
        int done = 0;
        do {
            step(done);
            done = (done + 1) % steps;
        } while (System.nanoTime() - begun < nanos);
    }

    private static final class Prompt extends TestRun {
        private final ForwardPass forward;
        private final int[] tokens;
        private final int depth;

        Prompt(ForwardPass forward, int[] tokens, int depth) {
            super(1);
            this.forward = forward;
            this.tokens = tokens;
            this.depth = depth;
        }

        @Override
        void step(int index) {
            float[] _ = forward.forward(tokens, depth);
        }
    }

    private static final class Alone extends TestRun {
        private final ForwardPass forward;
        private final int[] tokens;
        private final int depth;
        private final int[] one = new int[1];

        Alone(ForwardPass forward, int[] tokens, int depth) {
            super(tokens.length);
            this.forward = forward;
            this.tokens = tokens;
            this.depth = depth;
        }

        @Override
        void step(int index) {
            one[0] = tokens[index];
            float[] _ = forward.forward(one, depth + index);
        }
    }

    /** A token of each of many sequences at a time. */
    private static final class Together extends TestRun {
        private final Engine engine;
        private final List<KvCache> caches = new ArrayList<>();
        private final List<int[]> tokens = new ArrayList<>();
        private final int depth;

        Together(Engine engine, BenchTest test) {
            super(test.tokens());
            this.engine = engine;
            depth = test.depth();
            int vocabSize = engine.program().vocabSize();
            for (int i = 0; i < test.sequences(); i++) {
                KvCache cache = engine.open(test.positions());
                caches.add(cache);
                tokens.add(tokens(test.tokens(), vocabSize, i));
                if (depth > 0) {
                    Span filled = new Span(cache, 0, tokens(depth, vocabSize, i), Wanted.NONE);
                    engine.run(Batch.of(filled), (_, _, _, _) -> {});
                }
            }
        }

        @Override
        void step(int index) {
            List<Span> spans = new ArrayList<>(caches.size());
            for (int i = 0; i < caches.size(); i++) {
                spans.add(new Span(caches.get(i), depth + index, new int[] {tokens.get(i)[index]}, Wanted.LAST));
            }
            engine.run(new Batch(spans), (_, _, _, _) -> {});
        }

        @Override
        public void close() {
            caches.forEach(KvCache::close);
        }
    }
}
