package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.CacheKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * An Op by itself on a device, with the tasks that it has where Ops are traced, in a graph of its own: for measuring. Weights,
 * cache, input and output go to the device once and stay there; each run takes the next layer's.
 */
public final class DeviceOp implements AutoCloseable {
    private final DeviceArrays arrays;
    private final ArrayKey<FloatArray> output;
    private final DeviceGraph graph;
    private final DevicePlan plan;
    private final DeviceModel model;
    private final Stage stage;
    private final int pages;
    private int turn;

    /**
     * What an Op works on; arrays are as the host's engines take them.
     *
     * @param tokens one for each row
     * @param read the buffer that the Op reads besides its output
     * @param input of the rows; empty where it reads none
     * @param output what it holds before the first run
     * @param keys of each layer's cache, one page behind the other, as are {@code values}; empty arrays where the Op has none
     */
    public record Inputs(
            int[] tokens,
            Optional<Buffer> read,
            float[] input,
            float[] output,
            List<float[]> keys,
            List<float[]> values,
            int firstPosition,
            int rows) {}

    private DeviceOp(Program alone, DType dtype, Inputs inputs, WeightSource weights, DeviceOptions options) {
        Op op = alone.kinds().getFirst().ops().getFirst();
        this.stage = inputs.rows() == 1 ? Stage.DECODE : Stage.PREFILL;
        this.pages = AttentionShape.pages(alone.contextLength());
        MatrixTypes types = MatrixTypes.of(alone, dtype, weights);
        model = DeviceModel.of(alone, types, KvType.F32, options.math(), options.device(), pages);
        TaskBuilder tasks = new TaskBuilder(model, stage, inputs.rows(), LayerScope.each(0, model.groups()));
        new OpTasks(tasks).add(op);
        graph = DeviceGraph.of("op", tasks);
        output = tasks.activation(op.output()).key();
        MemoryPlan memory = new MemoryPlan(options.device(), graph.arrays());
        memory.requireFits(bytes -> "the Op needs " + bytes, () -> Wording.of("try %s host", Term.ENGINE));
        arrays = new DeviceArrays(memory);
        arrays.load(weights);
        inputs.read().ifPresent(buffer -> fill(tasks.activation(buffer).key(), 0, inputs.input()));
        fill(output, 0, inputs.output());
        for (int layer = 0; layer < layers(); layer++) {
            fill(cache(CacheKey.Part.KEYS), layer, inputs.keys().get(layer));
            fill(cache(CacheKey.Part.VALUES), layer, inputs.values().get(layer));
        }
        fill(inputs);
        settle();
        plan = new DevicePlan(List.of(graph), arrays, options.device(), (_, _) -> true);
    }

    /**
     * @param alone a program whose block is the Op and nothing else
     * @param weights brings those of the Op
     * @throws DeviceException if the device lacks memory, or the process runs with settings that rule out the mode
     */
    public static DeviceOp open(
            Program alone, DType dtype, Inputs inputs, WeightSource weights, DeviceOptions options) {
        RuntimeSettings.install(options.math());
        RuntimeSettings.requireInEffect(options.math());
        return new DeviceOp(alone, dtype, inputs, weights, options);
    }

    private int layers() {
        return model.groups().range(0).count();
    }

    private ArrayKey<FloatArray> cache(CacheKey.Part part) {
        return model.cache(part, 0).as(ElementType.FLOAT).orElseThrow().key();
    }

    /** @param part of an array of as many as there are layers; nothing is filled where the Op does not use it */
    private void fill(ArrayKey<FloatArray> key, int part, float[] values) {
        if (graph.uses().contains(key)) {
            MemorySegment.copy(
                    values,
                    0,
                    arrays.get(key).getSegment(),
                    ValueLayout.JAVA_FLOAT,
                    (long) part * values.length * Float.BYTES,
                    values.length);
        }
    }

    private void fill(Inputs inputs) {
        ArrayKey<IntArray> step = ControlKeys.step(stage);
        if (graph.uses().contains(step)) {
            Step.setSequence(arrays.get(step), inputs.firstPosition(), inputs.rows(), inputs.rows(), pages);
        }
        if (graph.uses().contains(ControlKeys.TOKENS)) {
            for (int row = 0; row < inputs.rows(); row++) {
                arrays.get(ControlKeys.TOKENS).set(row, inputs.tokens()[row]);
            }
        }
    }

    /** Everything goes to the device once, but for the layer's index; what may be asked for is kept for it. */
    private void settle() {
        Set<ArrayKey<?>> kept = Set.of(output, cache(CacheKey.Part.KEYS), cache(CacheKey.Part.VALUES));
        for (ArrayKey<?> array : graph.uses()) {
            boolean changes = array.equals(ControlKeys.LAYER);
            graph.move(changes ? Movement.UPLOAD_ALWAYS : Movement.UPLOAD_ONCE, array, true);
            if (kept.contains(array)) {
                graph.move(Movement.PERSIST, array, true);
            }
        }
    }

    /**
     * Runs the Op once, with the next layer's weights and cache. The first run compiles its kernels.
     *
     * @throws DeviceException if one cannot be compiled, or did not run on the device
     */
    public void run() {
        if (graph.uses().contains(ControlKeys.LAYER)) {
            arrays.get(ControlKeys.LAYER).set(0, turn);
        }
        turn = (turn + 1) % layers();
        plan.execute(graph);
    }

    /** Copies what the Op has written from the device: its output, into an array of that size. */
    public void fetchOutput(float[] to) {
        fetch(output, to);
    }

    /** Copies the first layer's keys from the device. */
    public void fetchKeys(float[] to) {
        fetch(cache(CacheKey.Part.KEYS), to);
    }

    /** Copies the first layer's values from the device. */
    public void fetchValues(float[] to) {
        fetch(cache(CacheKey.Part.VALUES), to);
    }

    private void fetch(ArrayKey<FloatArray> key, float[] to) {
        plan.fetch(key);
        MemorySegment.copy(arrays.get(key).getSegment(), ValueLayout.JAVA_FLOAT, 0, to, 0, to.length);
    }

    @Override
    public void close() {
        plan.close();
        arrays.close();
    }
}
