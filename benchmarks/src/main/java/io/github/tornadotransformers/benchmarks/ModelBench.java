package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Times the forward passes of a model, without tokenizer and sampler: random tokens, as speed does not depend on which they
 * are. Each repetition runs the same positions again.
 */
public final class ModelBench {
    private static final long SEED = 1;
    private static final double NANOS = 1e9;
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
    public ModelRow run(String name, ModelConfig config, EngineSession session, BenchTest test, int threads) {
        Program program = session.forward().program();
        int[] tokens = prepare(session.forward(), test);
        List<Double> seconds = new ArrayList<>();
        boolean onProcessor = !session.engine().onDevice();
        Limits limits = repeat(onProcessor, threads, () -> seconds.add(time(session.forward(), test, tokens)));
        ProgramCost cost = test.cost(program, session.dtype());
        double mean = new Samples(seconds).mean();
        return new ModelRow(
                name,
                config.parameters(),
                ProgramCost.modelBytes(program, session.dtype()),
                session.engine().toString(),
                onProcessor ? PROCESSOR : session.device(),
                session.dtype().toString().toLowerCase(Locale.ROOT),
                threads,
                test,
                new Samples(seconds.stream().map(each -> test.tokens() / each).toList()),
                cost.bytes() / mean,
                cost.operations() / mean,
                limits);
    }

    /** Fills the positions before the test's, and warms up; gives the test's tokens. */
    int[] prepare(ForwardPass forward, BenchTest test) {
        int vocabSize = forward.program().vocabSize();
        int[] tokens = tokens(test.tokens(), vocabSize);
        if (test.depth() > 0) {
            forward.forward(tokens(test.depth(), vocabSize), 0);
        }
        warmUp(forward, test, tokens);
        return tokens;
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

    private static int[] tokens(int count, int vocabSize) {
        return new SplittableRandom(SEED).ints(count, 0, vocabSize).toArray();
    }

    private void warmUp(ForwardPass forward, BenchTest test, int[] tokens) {
        long begun = System.nanoTime();
        long nanos = (long) (warmUpSeconds * NANOS);
        int[] one = new int[1];
        int done = 0;
        do {
            if (test.phase() == BenchTest.Phase.PREFILL) {
                forward.forward(tokens, test.depth());
            } else {
                one[0] = tokens[done];
                forward.forward(one, test.depth() + done);
                done = (done + 1) % tokens.length;
            }
        } while (System.nanoTime() - begun < nanos);
    }

    /** Seconds of one repetition. */
    static double time(ForwardPass forward, BenchTest test, int[] tokens) {
        int[] one = new int[1];
        long begun = System.nanoTime();
        if (test.phase() == BenchTest.Phase.PREFILL) {
            forward.forward(tokens, test.depth());
        } else {
            for (int i = 0; i < tokens.length; i++) {
                one[0] = tokens[i];
                forward.forward(one, test.depth() + i);
            }
        }
        return (System.nanoTime() - begun) / NANOS;
    }
}
