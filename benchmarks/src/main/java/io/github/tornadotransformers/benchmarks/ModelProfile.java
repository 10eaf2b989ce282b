package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Op;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Where the time of a host engine's forward pass goes: a clock is read after each Op. Each repetition runs the test without
 * clocks, then with them, so that one can be held against the other.
 */
public final class ModelProfile {
    private static final double NANOS = 1e9;

    private final ModelBench bench;

    /** @param bench whose repetitions, warm-up and limits it shares */
    public ModelProfile(ModelBench bench) {
        this.bench = bench;
    }

    /** A row for each Op in running order, one for their sum and one for the whole. */
    public List<ProfileRow> run(String name, ModelSource model, EngineSession session, BenchTest test, int threads) {
        try (TestRun run = bench.open(session, test)) {
            return rows(name, model, session, test, threads, run);
        }
    }

    private List<ProfileRow> rows(
            String name, ModelSource model, EngineSession session, BenchTest test, int threads, TestRun run) {
        MatrixBytes matrices = MatrixBytes.of(model, session.forward().program(), session.dtype());
        ForwardPass forward = session.forward();
        Clock clock = new Clock();
        forward.trace(
                (_, op, firstPosition, rows, _) -> clock.part(op).count(cost(op, matrices, test, rows, firstPosition)));
        double _ = run.time();
        List<Double> whole = new ArrayList<>();
        List<Double> sum = new ArrayList<>();
        Limits limits = bench.repeat(true, threads, () -> {
            forward.trace(TraceListener.NONE);
            whole.add(run.time());
            forward.trace(clock);
            clock.start();
            double _ = run.time();
            sum.add(clock.stop());
        });
        forward.trace(TraceListener.NONE);
        Part all = clock.total();
        double seconds = new Samples(whole).mean();
        List<ProfileRow> rows = new ArrayList<>();
        Rows maker = (of, part, samples) -> rows.add(new ProfileRow(
                name,
                session.engine().toString(),
                session.dtype().toString().toLowerCase(Locale.ROOT),
                threads,
                test,
                of,
                part.calls,
                new Samples(samples),
                part.cost,
                new Samples(samples).mean() / seconds,
                limits));
        clock.parts.forEach((op, part) -> maker.add(op, part, part.seconds));
        maker.add(ProfileRow.SUM, all, sum);
        maker.add(ProfileRow.WHOLE, all, whole);
        return rows;
    }

    private static OpCost cost(Op op, MatrixBytes matrices, BenchTest test, int rows, int firstPosition) {
        return test.sequences() == 1
                ? OpCost.of(op, matrices, rows, firstPosition)
                : OpCost.of(op, matrices, 1, firstPosition).together(rows);
    }

    /** Adds a row. */
    @FunctionalInterface
    private interface Rows {
        void add(String name, Part part, List<Double> seconds);
    }

    /** What the calls of an Op cost and took. */
    private static final class Part {
        private final List<Double> seconds = new ArrayList<>();
        private OpCost cost = OpCost.NOTHING;
        private int calls;
        private long nanos;

        void count(OpCost call) {
            cost = cost.plus(call);
            calls++;
        }
    }

    /** Adds the time since the Op before to an Op's. */
    private static final class Clock implements TraceListener {
        private final Map<String, Part> parts = new LinkedHashMap<>();
        private long last;

        Part part(Op op) {
            return parts.computeIfAbsent(op.name(), _ -> new Part());
        }

        void start() {
            parts.values().forEach(part -> part.nanos = 0);
            last = System.nanoTime();
        }

        @Override
        public void opFinished(int layer, Op op, int firstPosition, int rows, float[] output) {
            long now = System.nanoTime();
            parts.get(op.name()).nanos += now - last;
            last = now;
        }

        /** Keeps each Op's seconds as a sample, and says how many these are. */
        double stop() {
            long total = 0;
            for (Part part : parts.values()) {
                part.seconds.add(part.nanos / NANOS);
                total += part.nanos;
            }
            return total / NANOS;
        }

        Part total() {
            Part total = new Part();
            for (Part part : parts.values()) {
                total.cost = total.cost.plus(part.cost);
                total.calls += part.calls;
            }
            return total;
        }
    }
}
