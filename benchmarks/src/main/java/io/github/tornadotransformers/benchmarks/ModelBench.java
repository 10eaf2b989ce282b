package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Times the forward passes of a model, without tokenizer and sampler: random tokens, as speed does not depend on which they
 * are. Each repetition runs the same positions again.
 */
public final class ModelBench {
    private static final String PROCESSOR = "CPU";

    private final Roofline roofline;
    private final int repetitions;
    private final double warmUpSeconds;

    /**
     * @param roofline measured beside each repetition
     * @param repetitions 1 or more
     * @param warmUpSeconds how long a test runs untimed first, at least one token or prompt
     */
    public ModelBench(Roofline roofline, int repetitions, double warmUpSeconds) {
        this.roofline = roofline;
        this.repetitions = repetitions;
        this.warmUpSeconds = warmUpSeconds;
    }

    /** @param threads of a host engine; 0 on a device */
    public ModelRow run(String name, ModelSource model, EngineSession session, BenchTest test, int threads) {
        Program program = session.forward().program();
        List<Double> seconds = new ArrayList<>();
        boolean onProcessor = !session.engine().onDevice();
        Limits limits;
        try (TestRun run = open(session, test)) {
            limits = repeat(onProcessor, threads, () -> seconds.add(run.time()));
        }
        MatrixBytes matrices = MatrixBytes.of(model, program, session.dtype());
        ProgramCost cost = test.cost(program, matrices);
        double mean = new Samples(seconds).mean();
        return new ModelRow(
                name,
                model.config().parameters(),
                ProgramCost.modelBytes(program, matrices),
                session.engine().toString(),
                onProcessor ? PROCESSOR : session.device(),
                session.dtype().toString().toLowerCase(Locale.ROOT),
                threads,
                test,
                new Samples(
                        seconds.stream().map(each -> test.allTokens() / each).toList()),
                cost.bytes() / mean,
                cost.operations() / mean,
                limits);
    }

    /** Warmed up. */
    TestRun open(EngineSession session, BenchTest test) {
        TestRun run = TestRun.open(session, test);
        run.warmUp(warmUpSeconds);
        return run;
    }

    /**
     * Runs the repetitions, and measures the machine before each.
     *
     * @param onProcessor whether its limits matter
     * @return their means; not a number where they do not matter
     */
    Limits repeat(boolean onProcessor, int threads, Runnable repetition) {
        double read = 0;
        double operations = 0;
        for (int i = 0; i < repetitions; i++) {
            read += onProcessor ? roofline.readBytesPerSecond(threads) : Double.NaN;
            operations += onProcessor ? roofline.operationsPerSecond(threads) : Double.NaN;
            repetition.run();
        }
        return new Limits(threads, read / repetitions, operations / repetitions);
    }

    /** Threads that an engine uses, as the table shows them. */
    public static int threads(EngineKind engine, int wanted) {
        return engine.onDevice() ? 0 : engine == EngineKind.SCALAR ? 1 : wanted;
    }
}
