package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchmarkException;
import io.github.tornadotransformers.engine.VectorModule;
import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.VectorBackwardOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A gradient on an engine, with seeded inputs. */
final class GradientRun implements Subject {
    /** Of a sequence, if the model has so many positions. */
    private static final int ROWS = 128;

    private static final long SEED = 20_260_103;

    private final Gradient gradient;
    private final BackwardOps ops;
    private final Runnable closer;
    private final float[][] read;
    private final float[][] initial;
    private final float[][] written;

    GradientRun(Gradient gradient, BackwardOps ops, Runnable closer) {
        this.gradient = gradient;
        this.ops = ops;
        this.closer = closer;
        SplittableRandom random = new SplittableRandom(SEED);
        this.read = floats(gradient.read(), random);
        this.initial = floats(gradient.written(), random);
        this.written = copy(initial);
    }

    static GradientRun open(Case of) {
        Gradient gradient = find(of);
        if (of.engine() == BenchmarkEngine.SCALAR) {
            return new GradientRun(gradient, new ScalarBackwardOps(), () -> {});
        }
        VectorModule.require();
        VectorOps forward = new VectorOps(of.threads());
        return new GradientRun(gradient, new VectorBackwardOps(forward), forward::close);
    }

    static Gradient find(Case of) {
        return all(of.model()).stream()
                .filter(each -> each.name().equals(of.op()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(of.model() + " has no gradient '" + of.op() + "'"));
    }

    static List<Gradient> all(String model) {
        ModelConfig config = Shapes.named(model);
        int rows = Math.min(ROWS, config.contextLength());
        Program program = config.program(rows);
        return Gradient.of(program, rows);
    }

    private static float[][] floats(int[] sizes, SplittableRandom random) {
        float[][] arrays = new float[sizes.length][];
        for (int i = 0; i < arrays.length; i++) {
            arrays[i] = new float[sizes[i]];
            for (int j = 0; j < sizes[i]; j++) {
                arrays[i][j] = 2 * random.nextFloat() - 1;
            }
        }
        return arrays;
    }

    private static float[][] copy(float[][] arrays) {
        return Arrays.stream(arrays).map(float[]::clone).toArray(float[][]::new);
    }

    @Override
    public void requireRight() {
        float[][] expected = copy(initial);
        gradient.loop().run(new ScalarBackwardOps(), read, expected);
        gradient.loop().run(ops, read, written);
        for (int i = 0; i < expected.length; i++) {
            requireSame(i, written[i], expected[i]);
        }
    }

    private void requireSame(int array, float[] actual, float[] expected) {
        for (int i = 0; i < expected.length; i++) {
            if (gradient.defines(array, i)
                    && Float.floatToRawIntBits(actual[i]) != Float.floatToRawIntBits(expected[i])) {
                throw new BenchmarkException(
                        "the gradient " + gradient.name() + " (" + gradient.words() + ") is wrong at array " + array
                                + ", element " + i + ": " + actual[i] + ", expected " + expected[i] + ": not timed");
            }
        }
    }

    /** Brings the first input back where a run has replaced it. */
    void restore() {
        if (gradient.inPlace()) {
            for (int i = 0; i < written.length; i++) {
                System.arraycopy(initial[i], 0, written[i], 0, written[i].length);
            }
        }
    }

    @Override
    public void run() {
        gradient.loop().run(ops, read, written);
    }

    @Override
    public void close() {
        closer.run();
    }
}
