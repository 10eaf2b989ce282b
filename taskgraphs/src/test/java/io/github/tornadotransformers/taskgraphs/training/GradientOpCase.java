package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.graphs.ControlKeys;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DevicePlan;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.graphs.LayerScope;
import io.github.tornadotransformers.taskgraphs.graphs.ScratchKey;
import io.github.tornadotransformers.taskgraphs.graphs.Stage;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.RotaryKey;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The gradient of one Op as a task graph of its own, against the oracle. Every array that it uses is random; every one comes
 * back, and must hold the oracle's bits, or what it held where the oracle writes nothing.
 *
 * @param layer whose weights are used
 */
record GradientOpCase(Program program, TrainedOp trained, Stage stage, int layer) {
    /** Every Op of a program that has a gradient. */
    static List<GradientOpCase> of(Program program) {
        List<GradientOpCase> cases = new ArrayList<>();
        int last = program.layers() - 1;
        for (TrainedOp trained : TrainedOp.of(program.embedding(), program.residual())) {
            cases.add(new GradientOpCase(program, trained, Stage.TRAINING, 0));
        }
        for (TrainedOp trained : TrainedOp.of(program.kinds().getFirst().ops(), program.residual())) {
            if (!(trained.op() instanceof Op.CacheAppend)) {
                cases.add(new GradientOpCase(program, trained, Stage.TRAINING, last));
            }
        }
        for (TrainedOp trained : TrainedOp.of(program.head(), program.residual())) {
            cases.add(new GradientOpCase(program, trained, Stage.TRAINING_HEAD, 0));
        }
        return cases;
    }

    /** @throws AssertionError if an element differs from the oracle's */
    void requireTheOraclesBits(DeviceInfo device, RandomData data) {
        RuntimeSettings.install(MathMode.STRICT);
        DeviceModel model = DeviceModel.withoutCache(program, MatrixTypes.of(DType.F32), MathMode.STRICT, device);
        TaskBuilder in =
                new TaskBuilder(model, stage, TrainingGraphs.rows(program), LayerScope.each(0, model.groups()));
        new GradientTasks(in, program.buffers()).add(trained);
        DeviceGraph graph = DeviceGraph.of(trained.op().name(), in.tasks(), Set.of());
        try (DeviceArrays arrays = new DeviceArrays(new MemoryPlan(device, graph.arrays()))) {
            int live = data.between(Math.max(1, program.contextLength() - 9), program.contextLength());
            Map<ArrayKey<?>, float[]> expected = fill(arrays, graph, live, data);
            try (DevicePlan plan = new DevicePlan(List.of(graph), arrays, device, (_, _) -> true)) {
                plan.execute(graph);
            }
            new Oracle(in, arrays, expected, live).run();
            expected.forEach((key, values) -> {
                if (!isScratch(key)) {
                    float[] actual = ((FloatArray) arrays.get(key)).toHeapArray();
                    Bits.assertSame(trained.op().name() + ", " + key + ", " + live + " rows", actual, values);
                }
            });
        }
    }

    /** Fills what the graph uses, and says how it comes to the device and back. */
    private Map<ArrayKey<?>, float[]> fill(DeviceArrays arrays, DeviceGraph graph, int live, RandomData data) {
        Map<ArrayKey<?>, float[]> filled = new LinkedHashMap<>();
        set(arrays, graph, ControlKeys.TOKENS, data.ints(TrainingGraphs.rows(program), program.vocabSize()));
        set(arrays, graph, ControlKeys.step(stage), live);
        set(arrays, graph, ControlKeys.LAYER, layer);
        for (ArrayKey<?> key : graph.uses()) {
            graph.move(Movement.UPLOAD_ALWAYS, key, true);
            boolean isGiven = key instanceof RotaryKey || key instanceof ConstantKey<?>;
            if (!isGiven && arrays.get(key) instanceof FloatArray floats) {
                float[] values = data.floats(floats.getSize());
                for (int i = 0; i < values.length; i++) {
                    floats.set(i, values[i]);
                }
                filled.put(key, values);
                graph.move(Movement.DOWNLOAD, key, true);
            }
        }
        return filled;
    }

    private static void set(DeviceArrays arrays, DeviceGraph graph, ArrayKey<IntArray> key, int... values) {
        if (graph.uses().contains(key)) {
            for (int i = 0; i < values.length; i++) {
                arrays.get(key).set(i, values[i]);
            }
        }
    }

    /** Whether it is the tasks' own what an array holds. */
    private boolean isScratch(ArrayKey<?> key) {
        return Stream.of(GradientTasks.STATISTICS, GradientTasks.PROBABILITY_SUMS)
                .anyMatch(use -> key.equals(new ScratchKey(stage, use)));
    }

    /** Runs the oracle on copies of the arrays. */
    private final class Oracle {
        private final ScalarBackwardOps ops = new ScalarBackwardOps();
        private final TaskBuilder in;
        private final DeviceArrays arrays;
        private final Map<ArrayKey<?>, float[]> copies;
        private final int rows;

        Oracle(TaskBuilder in, DeviceArrays arrays, Map<ArrayKey<?>, float[]> copies, int rows) {
            this.in = in;
            this.arrays = arrays;
            this.copies = copies;
            this.rows = rows;
        }

        private float[] activation(Buffer buffer) {
            return copies.get(in.activation(buffer).key());
        }

        private float[] gradient(Buffer buffer) {
            return copies.get(new BufferGradientKey(buffer));
        }

        /** The layer of a weight, or of its gradient. */
        private float[] layer(ArrayKey<FloatArray> stacked, Weight weight) {
            int size = Math.toIntExact(weight.layerSize());
            int of = weight.layers() > 1 ? layer : 0;
            return Arrays.copyOfRange(copies.get(stacked), of * size, (of + 1) * size);
        }

        private ArrayKey<FloatArray> gradientOf(Weight weight) {
            return new WeightGradientKey(weight, in.layersOf(weight));
        }

        /** Runs {@code action} on copies of the gradients' layers, and puts them back. */
        private void withGradients(List<Weight> weights, Consumer<List<float[]>> action) {
            List<float[]> layers = weights.stream()
                    .map(weight -> layer(gradientOf(weight), weight))
                    .toList();
            action.accept(layers);
            for (int i = 0; i < layers.size(); i++) {
                Weight weight = weights.get(i);
                float[] values = layers.get(i);
                int of = weight.layers() > 1 ? layer : 0;
                System.arraycopy(values, 0, copies.get(gradientOf(weight)), of * values.length, values.length);
            }
        }

        void run() {
            switch (trained.op()) {
                case Op.TokenEmbedding op -> {
                    int[] tokens = arrays.get(ControlKeys.TOKENS).toHeapArray();
                    int width = op.table().rows();
                    withGradients(
                            List.of(op.table()),
                            d -> ops.tokenEmbedding(
                                    tokens, rows, width, op.table().columns(), gradient(op.output()), d.getFirst()));
                }
                case Op.PositionEmbedding op ->
                    withGradients(
                            List.of(op.table()),
                            d -> ops.positionEmbedding(rows, op.output().width(), gradient(op.output()), d.getFirst()));
                case Op.LayerNorm op ->
                    withGradients(
                            List.of(op.weight(), op.bias()),
                            d -> ops.layerNorm(
                                    activation(op.input()),
                                    layer(in.vector(op.weight()).key(), op.weight()),
                                    op.epsilon(),
                                    rows,
                                    op.output().width(),
                                    gradient(op.output()),
                                    gradient(op.input()),
                                    d.getFirst(),
                                    d.getLast()));
                case Op.RmsNorm op ->
                    withGradients(
                            List.of(op.weight()),
                            d -> ops.rmsNorm(
                                    activation(op.input()),
                                    layer(in.vector(op.weight()).key(), op.weight()),
                                    op.epsilon(),
                                    rows,
                                    op.output().width(),
                                    gradient(op.output()),
                                    gradient(op.input()),
                                    d.getFirst()));
                case Op.Linear op -> linear(op);
                case Op.Rotary op -> ops.rotary(op.shape(), op.table(), rows, gradient(op.output()));
                case Op.CacheAppend _, Op.Scale _ -> {}
                case Op.AttentionScores op ->
                    ops.attentionScores(
                            op.shape(),
                            op.scaling().factor(),
                            activation(op.qkv()),
                            rows,
                            gradient(op.output()),
                            gradient(op.qkv()));
                case Op.Softmax op -> ops.softmax(op.shape(), activation(op.output()), rows, gradient(op.output()));
                case Op.AttentionOutput op ->
                    ops.attentionOutput(
                            op.shape(),
                            activation(op.probabilities()),
                            activation(trained.cached()),
                            rows,
                            gradient(op.output()),
                            gradient(op.probabilities()),
                            gradient(trained.cached()));
                case Op.GatedMlp op ->
                    ops.swiGlu(
                            activation(op.gateUp()),
                            rows,
                            op.output().width(),
                            gradient(op.output()),
                            gradient(op.gateUp()));
                case Op.SelectRows op ->
                    ops.selectRows(rows * op.output().width(), gradient(op.output()), gradient(op.input()));
            }
        }

        private void linear(Op.Linear op) {
            float[] dOut = gradient(op.output());
            int outputs = op.output().width();
            if (op.activation() != Activation.NONE) {
                float[] sum = copies.get(new TrainingArrays(in).sumOf(op).key());
                ops.activation(op.activation(), rows * outputs, sum, dOut, dOut);
            }
            MemorySegment weight =
                    MemorySegment.ofArray(layer(in.vector(op.weight()).key(), op.weight()));
            int inputs = op.weight().rows();
            ops.linearInput(
                    new HostMatrix(DType.F32, inputs, outputs, weight, MemorySegment.NULL),
                    rows,
                    dOut,
                    gradient(op.input()));
            List<Weight> weights =
                    Stream.concat(Stream.of(op.weight()), op.bias().stream()).toList();
            withGradients(weights, d -> {
                ops.linearWeight(activation(op.input()), rows, inputs, outputs, dOut, d.getFirst());
                if (op.bias().isPresent()) {
                    ops.linearBias(rows, outputs, dOut, d.getLast());
                }
            });
        }
    }

    @Override
    public String toString() {
        return program.family() + " " + trained.op().name();
    }
}
