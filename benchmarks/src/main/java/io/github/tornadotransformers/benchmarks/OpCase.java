package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.host.OpLoop;
import io.github.tornadotransformers.host.OpRows;
import io.github.tornadotransformers.host.OpWeights;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Effect;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOp;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * An Op of a model on a batch of rows, with seeded weights and inputs, ready to be checked and to be run again and again.
 *
 * <p>Weights and cache are there once for each of several layers, and each run takes the next: as in the model, nothing of
 * them is in a processor's cache when it is wanted, if the model is so large.
 */
public final class OpCase implements AutoCloseable {
    private static final long SEED = 20_260_101;

    private final Op op;
    private final OpShape shape;
    private final Rows at;
    private final float[] initialOutput;
    private final Program alone;
    private final RandomModel source;
    private final Arena arena = Arena.ofShared();
    private final Weights weights;
    private final List<Layer> layers = new ArrayList<>();
    private int turn;

    /** What a layer has of its own. */
    private record Layer(OpLoop loop, Optional<KvLayer> cache, float[] keys, float[] values) {
        void run(HostOps ops, Rows at) {
            BatchRows batch = BatchRows.of(at.firstPosition(), at.rows(), cache.orElse(null));
            loop.run(ops, new OpRows().use(at.input(), at.output()).at(at.tokens(), batch));
        }
    }

    /** @param program of the model, whose cache holds the positions */
    OpCase(ModelConfig config, Program program, OpShape shape) {
        this.op = shape.op();
        this.shape = shape;
        int rows = shape.rows();
        int copies = shape.copies();
        SplittableRandom random = new SplittableRandom(SEED);
        this.initialOutput = initialOutput(random, rows);
        this.at = new Rows(
                random.ints(rows, 0, program.vocabSize()).toArray(),
                floats(random, rows * op.reads().map(Buffer::width).orElse(0)),
                initialOutput.clone(),
                shape.firstPosition(),
                rows);
        this.alone = new Program(
                program.family(),
                program.vocabSize(),
                program.attention(),
                List.of(),
                Collections.nCopies(copies, new Block(List.of(op))),
                List.of(),
                program.residual(),
                program.logits());
        this.source = model(config);
        this.weights = source.load(alone, shape.dtype(), new ArenaAllocator(arena, WeightLayout.PANELS));
        for (int copy = 0; copy < copies; copy++) {
            layers.add(layer(
                    copy,
                    floats(random, op instanceof Op.AttentionOutput ? 0 : cacheSize()),
                    floats(random, op instanceof Op.AttentionScores ? 0 : cacheSize())));
        }
    }

    /** Whose weights the Op has. */
    static RandomModel model(ModelConfig config) {
        return new RandomModel(config, SEED);
    }

    private Layer layer(int copy, float[] keys, float[] values) {
        Optional<KvLayer> cache = cache().map(attention -> KvLayer.contiguous(attention, keys, values));
        return new Layer(OpLoop.of(op, OpWeights.of(weights, copy)), cache, keys, values);
    }

    /** The shape of the cache that the Op reads or writes, if it does. */
    private Optional<AttentionShape> cache() {
        return op instanceof Op.Softmax || op instanceof Op.Rotary ? Optional.empty() : op.attention();
    }

    private int cacheSize() {
        return cache().map(each -> Math.toIntExact(each.cacheLayerSize())).orElse(0);
    }

    /** NaN where the Op must write every element. */
    private float[] initialOutput(SplittableRandom random, int rows) {
        int size = op instanceof Op.CacheAppend ? 0 : rows * op.output().width();
        if (op.effect() == Effect.ADDS || op.effect() == Effect.IN_PLACE) {
            return floats(random, size);
        }
        float[] output = new float[size];
        Arrays.fill(output, Float.NaN);
        return output;
    }

    /** In {@code [-1, 1)}. */
    private static float[] floats(SplittableRandom random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = 2 * random.nextFloat() - 1;
        }
        return values;
    }

    public OpShape shape() {
        return shape;
    }

    /** Runs the Op once, with the next layer's weights. */
    public void run(HostOps ops) {
        layers.get(turn).run(ops, at);
        turn = (turn + 1) % layers.size();
    }

    /**
     * @param engine its name
     * @param fetch brings an array back from where the engine keeps its own copy
     * @throws BenchmarkException if the engine's result is not the definition's, to the bit
     */
    public void requireRight(String engine, HostOps ops, Consumer<float[]> fetch) {
        requireNone(engine, firstDifference(ops, fetch));
    }

    /**
     * Runs the Op once from its first inputs and compares a row at the start, one in the middle and one at the end with
     * {@link ScalarOps}' bits: no row depends on another.
     *
     * @param fetch brings an array back from where the engine keeps its own copy
     * @return the first difference, if there is one
     */
    public Optional<String> firstDifference(HostOps engine, Consumer<float[]> fetch) {
        System.arraycopy(initialOutput, 0, at.output(), 0, initialOutput.length);
        Layer first = layers.getFirst();
        first.run(engine, at);
        fetch.accept(at.output());
        if (op instanceof Op.CacheAppend) {
            fetch.accept(first.keys());
            fetch.accept(first.values());
        }
        return firstDifference();
    }

    /**
     * Opens the Op on a device, with the same weights and inputs.
     *
     * @throws DeviceException as {@link DeviceOp#open} does
     */
    public DeviceOp openOn(DeviceOptions options) {
        DeviceOp.Inputs inputs = new DeviceOp.Inputs(
                at.tokens(),
                op.reads(),
                at.input(),
                initialOutput,
                layers.stream().map(Layer::keys).toList(),
                layers.stream().map(Layer::values).toList(),
                at.firstPosition(),
                at.rows());
        return DeviceOp.open(alone, shape.dtype(), inputs, WeightSource.of(source, alone, shape.dtype()), options);
    }

    /**
     * As {@link #requireRight(String, HostOps, Consumer)}, of an Op that {@link #openOn} has opened and that has not run.
     *
     * @throws BenchmarkException if the device's result is not the definition's, to the bit
     */
    public void requireRight(String engine, DeviceOp device) {
        device.run();
        if (op instanceof Op.CacheAppend) {
            device.fetchKeys(layers.getFirst().keys());
            device.fetchValues(layers.getFirst().values());
        } else {
            device.fetchOutput(at.output());
        }
        requireNone(engine, firstDifference());
    }

    private static void requireNone(String engine, Optional<String> difference) {
        difference.ifPresent(words -> {
            throw new BenchmarkException("engine " + engine + " is wrong at " + words + ": not timed");
        });
    }

    /** Of what the arrays hold after a run. */
    private Optional<String> firstDifference() {
        Rows asked = new Rows(at.tokens(), at.input(), initialOutput, at.firstPosition(), at.rows());
        try (ScalarOps oracle = new ScalarOps()) {
            return IntStream.of(0, at.rows() / 2, at.rows() - 1)
                    .distinct()
                    .mapToObj(row -> difference(oracle, asked.alone(row), row))
                    .flatMap(Optional::stream)
                    .findFirst();
        }
    }

    private Optional<String> difference(ScalarOps oracle, Rows alone, int row) {
        Layer first = layers.getFirst();
        Layer own = op instanceof Op.CacheAppend ? layer(0, new float[cacheSize()], new float[cacheSize()]) : first;
        own.run(oracle, alone);
        float[] expected = defined(alone.output(), own, 0, alone.firstPosition());
        float[] actual = defined(at.output(), first, row, alone.firstPosition());
        int index = Arrays.mismatch(bits(actual), bits(expected));
        return index < 0
                ? Optional.empty()
                : Optional.of(shape.name() + " (" + shape.words() + "), row " + row + ", element " + index + ": "
                        + actual[index] + ", expected " + expected[index]);
    }

    private static int[] bits(float[] values) {
        int[] bits = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            bits[i] = Float.floatToRawIntBits(values[i]);
        }
        return bits;
    }

    /** The elements of a row that the Op defines. */
    private float[] defined(float[] output, Layer layer, int row, int position) {
        return switch (op) {
            case Op.CacheAppend append -> {
                KvLayer cache = layer.cache().orElseThrow();
                int headDim = append.shape().headDim();
                int width = append.shape().keyValueWidth();
                float[] both = new float[2 * width];
                for (int i = 0; i < width; i++) {
                    int head = i / headDim;
                    both[i] = layer.keys()[cache.keyIndex(head, i % headDim, position)];
                    both[width + i] = layer.values()[cache.valueIndex(head, position) + i % headDim];
                }
                yield both;
            }
            case Op.AttentionScores scores -> upTo(scores.shape(), output, row, position);
            case Op.Softmax softmax -> upTo(softmax.shape(), output, row, position);
            default -> {
                int width = op.output().width();
                yield Arrays.copyOfRange(output, row * width, (row + 1) * width);
            }
        };
    }

    /** A row's scores of positions that it sees, head by head. */
    private static float[] upTo(AttentionShape attention, float[] scores, int row, int position) {
        int first = attention.firstVisible(position);
        int length = position + 1 - first;
        float[] seen = new float[attention.heads() * length];
        for (int head = 0; head < attention.heads(); head++) {
            int from = row * attention.scoresWidth() + head * attention.contextLength() + first;
            System.arraycopy(scores, from, seen, head * length, length);
        }
        return seen;
    }

    @Override
    public void close() {
        arena.close();
    }

    /**
     * A batch of rows.
     *
     * @param tokens one for each row
     * @param input of the rows; empty where the Op works in place
     * @param output of the rows
     */
    private record Rows(int[] tokens, float[] input, float[] output, int firstPosition, int rows) {
        /** A copy of one row, as a batch of its own. */
        Rows alone(int row) {
            return new Rows(new int[] {tokens[row]}, slice(input, row), slice(output, row), firstPosition + row, 1);
        }

        private float[] slice(float[] values, int row) {
            int width = values.length / rows;
            return Arrays.copyOfRange(values, row * width, (row + 1) * width);
        }
    }
}
