package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.benchmarks.BenchmarkException;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.generation.ForwardPass;
import java.util.SplittableRandom;

/** A model of random weights on an engine, at some position of a sequence of random tokens. */
final class ModelRun implements Subject {
    /** Tokens of a prompt, and those before a generated one, if the model has so many positions. */
    private static final int TOKENS = 128;

    /** Layers of the model that is checked: the definition would take minutes for all, and each is like the others. */
    private static final int CHECKED_LAYERS = 2;

    /** Tokens before a generated one where that is checked, for the same reason. */
    private static final int CHECKED_DEPTH = 8;

    private static final long SEED = 20_260_104;

    private final ModelConfig config;
    private final EngineSettings settings;
    private final BenchTest test;
    private final int[] tokens;
    private EngineSession session;

    private ModelRun(ModelConfig config, EngineSettings settings, BenchTest test) {
        this.config = config;
        this.settings = settings;
        this.test = test;
        this.tokens = tokens(test.tokens(), test.depth());
    }

    static ModelRun open(Case of) {
        ModelConfig config = Shapes.named(of.model());
        BenchTest test = test(of);
        EngineKind engine =
                of.engine().engine().orElseThrow(() -> new IllegalArgumentException("no model runs on " + of.engine()));
        EngineSettings settings =
                EngineSettings.of(engine).withDType(of.dtype()).withContext(test.positions());
        return new ModelRun(config, engine == EngineKind.HOST ? settings.withThreads(of.threads()) : settings, test);
    }

    /** What is run, at which positions. */
    static BenchTest test(Case of) {
        int tokens = Math.min(TOKENS, Shapes.named(of.model()).contextLength() - 1);
        return of.pass() == Case.Pass.DECODE
                ? new BenchTest(BenchTest.Phase.DECODE, 1, tokens)
                : new BenchTest(BenchTest.Phase.PREFILL, tokens, 0);
    }

    private int[] tokens(int count, long seed) {
        return new SplittableRandom(SEED + seed)
                .ints(count, 0, config.vocabSize())
                .toArray();
    }

    /** Compares logits of the model's first layers, of a prompt or of a token behind a few, then opens the whole model. */
    @Override
    public void requireRight() {
        RandomModel few = new RandomModel(Shapes.cut(config, CHECKED_LAYERS), SEED);
        EngineSettings definition = EngineSettings.of(EngineKind.SCALAR)
                .withDType(settings.dtype().orElseThrow())
                .withContext(test.positions());
        try (EngineSession right = Engines.open(few, definition);
                EngineSession own = Engines.open(few, settings)) {
            requireSame(logits(own.forward()), logits(right.forward()));
        }
        session = Engines.open(new RandomModel(config, SEED), settings);
        fill(session.forward(), test.depth());
    }

    private void requireSame(float[] actual, float[] expected) {
        for (int i = 0; i < expected.length; i++) {
            if (Float.floatToRawIntBits(actual[i]) != Float.floatToRawIntBits(expected[i])) {
                throw new BenchmarkException("engine " + settings.engine() + " is wrong at logit " + i + " of "
                        + test.name() + ": " + actual[i] + ", expected " + expected[i] + ": not timed");
            }
        }
    }

    private float[] logits(ForwardPass forward) {
        int depth = Math.min(CHECKED_DEPTH, test.depth());
        fill(forward, depth);
        return forward.forward(tokens, depth);
    }

    /** The first positions. */
    private void fill(ForwardPass forward, int depth) {
        if (depth > 0) {
            float[] _ = forward.forward(tokens(depth, 1), 0);
        }
    }

    @Override
    public void run() {
        float[] _ = session.forward().forward(tokens, test.depth());
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
    }
}
