package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.Stage;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * An Op by itself on a device, with the tasks that it has where Ops are traced, in a graph of its own: for measuring. Weights,
 * cache, input and output go to the device once and stay there; each run takes the next layer's.
 */
public final class DeviceOp implements AutoCloseable {
    private final DeviceArrays arrays;
    private final FloatArray output;
    private final StageGraph graph;
    private final DevicePlan plan;
    private final int layers;
    private int turn;

    /**
     * What an Op works on; arrays are as the host's engines take them.
     *
     * @param tokens one for each row
     * @param read the buffer that the Op reads besides its output
     * @param input of the rows; empty where it reads none
     * @param output what it holds before the first run
     * @param keys of each layer's cache, as are {@code values}; empty arrays where the Op has none
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
        Stage stage = inputs.rows() == 1 ? Stage.DECODE : Stage.PREFILL;
        MemoryPlan memory = MemoryPlan.of(alone, dtype, inputs.rows(), options.device());
        inputs.read().ifPresent(buffer -> memory.addBuffer(stage, buffer, inputs.rows()));
        memory.requireFits();
        arrays = new DeviceArrays(memory.plan(), alone);
        arrays.load(alone, weights);
        layers = memory.groups().layersOf(0);
        DeviceModel model = new DeviceModel(alone, dtype, options.math(), arrays);
        TaskBuilder tasks = new TaskBuilder(model, stage, inputs.rows(), arrays.ints(MemoryPlan.LAYER), 0, "");
        new OpTasks(tasks).add(op);
        output = tasks.activation(op.output());
        inputs.read().ifPresent(buffer -> fill(tasks.activation(buffer), 0, inputs.input()));
        fill(output, 0, inputs.output());
        for (int layer = 0; layer < layers; layer++) {
            fill(tasks.keys(), layer, inputs.keys().get(layer));
            fill(tasks.values(), layer, inputs.values().get(layer));
        }
        for (int row = 0; row < inputs.rows(); row++) {
            arrays.ints(MemoryPlan.TOKENS).set(row, inputs.tokens()[row]);
        }
        IntArray step = tasks.step();
        step.set(Step.POSITION, inputs.firstPosition());
        step.set(Step.ROWS, inputs.rows());
        step.set(Step.LOGIT_ROW, inputs.rows() - 1);
        graph = new StageGraph("op", tasks.tasks(), tasks.defined());
        settle(Set.of(output, tasks.keys(), tasks.values()));
        plan = new DevicePlan(List.of(graph), options.device(), (_, _) -> true);
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

    private static void fill(FloatArray array, int part, float[] values) {
        MemorySegment.copy(
                values,
                0,
                array.getSegment(),
                ValueLayout.JAVA_FLOAT,
                (long) part * values.length * Float.BYTES,
                values.length);
    }

    /** Everything goes to the device once, but for the layer's index; what may be asked for is kept for it. */
    private void settle(Set<TornadoNativeArray> kept) {
        for (TornadoNativeArray array : graph.uses()) {
            boolean changes = array.equals(arrays.ints(MemoryPlan.LAYER));
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
        arrays.ints(MemoryPlan.LAYER).set(0, turn);
        turn = (turn + 1) % layers;
        plan.execute(graph);
    }

    /** Copies what the Op has written from the device: its output, into an array of that size. */
    public void fetchOutput(float[] to) {
        fetch(output, to);
    }

    /** Copies the first layer's keys from the device. */
    public void fetchKeys(float[] to) {
        fetch(arrays.floats(MemoryPlan.KEYS, 0), to);
    }

    /** Copies the first layer's values from the device. */
    public void fetchValues(float[] to) {
        fetch(arrays.floats(MemoryPlan.VALUES, 0), to);
    }

    private void fetch(FloatArray array, float[] to) {
        plan.fetch(array);
        MemorySegment.copy(array.getSegment(), ValueLayout.JAVA_FLOAT, 0, to, 0, to.length);
    }

    @Override
    public void close() {
        plan.close();
        arrays.close();
    }
}
