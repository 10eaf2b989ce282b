package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.graphs.DevicePlan;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.graphs.StageGraph;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.Stage;
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
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

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
        try (DeviceArrays arrays = new DeviceArrays(TrainingMemoryPlan.of(program, device), program)) {
            arrays.loadAngles(program);
            DeviceModel model = new DeviceModel(program, DType.F32, MathMode.STRICT, arrays);
            TaskBuilder in = new TaskBuilder(
                    model, stage, TrainingMemoryPlan.rows(program), arrays.ints(MemoryPlan.LAYER), 0, "");
            new GradientTasks(in, program.buffers()).add(trained);
            StageGraph graph = new StageGraph(trained.op().name(), in.tasks(), Set.of());
            int live = data.between(Math.max(1, program.contextLength() - 9), program.contextLength());
            Map<FloatArray, float[]> expected = fill(arrays, graph, live, data);
            try (DevicePlan plan = new DevicePlan(List.of(graph), device, (_, _) -> true)) {
                plan.execute(graph);
            }
            new Oracle(in, arrays, expected, live).run();
            Set<FloatArray> scratch = scratch(in);
            expected.forEach((array, values) -> {
                if (!scratch.contains(array)) {
                    Bits.assertSame(trained.op().name() + ", " + live + " rows", array.toHeapArray(), values);
                }
            });
        }
    }

    /** Fills what the graph uses, and says how it comes to the device and back. */
    private Map<FloatArray, float[]> fill(DeviceArrays arrays, StageGraph graph, int live, RandomData data) {
        Map<FloatArray, float[]> filled = new LinkedHashMap<>();
        IntArray tokens = arrays.ints(MemoryPlan.TOKENS);
        for (int row = 0; row < tokens.getSize(); row++) {
            tokens.set(row, data.between(0, program.vocabSize() - 1));
        }
        arrays.ints(MemoryPlan.STEP).set(Step.POSITION, 0);
        arrays.ints(MemoryPlan.STEP).set(Step.ROWS, live);
        arrays.ints(MemoryPlan.LAYER).set(0, layer);
        for (TornadoNativeArray array : graph.uses()) {
            graph.move(Movement.UPLOAD_ALWAYS, array, true);
            if (array instanceof FloatArray floats && !arrays.isTable(array) && !arrays.isConstant(array)) {
                float[] values = data.floats(floats.getSize());
                for (int i = 0; i < values.length; i++) {
                    floats.set(i, values[i]);
                }
                filled.put(floats, values);
                graph.move(Movement.DOWNLOAD, array, true);
            }
        }
        return filled;
    }

    private Set<FloatArray> scratch(TaskBuilder in) {
        return switch (trained.op()) {
            case Op.LayerNorm _, Op.RmsNorm _ -> Set.of(in.scratch(TrainingMemoryPlan.STATISTICS));
            case Op.Softmax _ -> Set.of(in.scratch(TrainingMemoryPlan.PROBABILITY_SUMS));
            default -> Set.of();
        };
    }

    /** Runs the oracle on copies of the arrays. */
    private final class Oracle {
        private final ScalarBackwardOps ops = new ScalarBackwardOps();
        private final TaskBuilder in;
        private final DeviceArrays arrays;
        private final Map<FloatArray, float[]> copies;
        private final int rows;

        Oracle(TaskBuilder in, DeviceArrays arrays, Map<FloatArray, float[]> copies, int rows) {
            this.in = in;
            this.arrays = arrays;
            this.copies = copies;
            this.rows = rows;
        }

        private float[] activation(Buffer buffer) {
            return copies.get(in.activation(buffer));
        }

        private float[] gradient(Buffer buffer) {
            return copies.get(in.gradient(buffer));
        }

        /** The layer of a weight, or of its gradient. */
        private float[] layer(FloatArray stacked, Weight weight) {
            int size = Math.toIntExact(weight.layerSize());
            int of = weight.layers() > 1 ? layer : 0;
            return Arrays.copyOfRange(copies.get(stacked), of * size, (of + 1) * size);
        }

        /** Runs {@code action} on copies of the gradients' layers, and puts them back. */
        private void withGradients(List<Weight> weights, Consumer<List<float[]>> action) {
            List<float[]> layers = weights.stream()
                    .map(weight -> layer(in.gradient(weight), weight))
                    .toList();
            action.accept(layers);
            for (int i = 0; i < layers.size(); i++) {
                Weight weight = weights.get(i);
                float[] values = layers.get(i);
                int of = weight.layers() > 1 ? layer : 0;
                System.arraycopy(values, 0, copies.get(in.gradient(weight)), of * values.length, values.length);
            }
        }

        void run() {
            switch (trained.op()) {
                case Op.TokenEmbedding op -> {
                    int[] tokens = arrays.ints(MemoryPlan.TOKENS).toHeapArray();
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
                                    layer(in.vector(op.weight()), op.weight()),
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
                                    layer(in.vector(op.weight()), op.weight()),
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
                float[] sum = copies.get(in.scratch(TrainedOp.sumOf(op)));
                ops.activation(op.activation(), rows * outputs, sum, dOut, dOut);
            }
            MemorySegment weight =
                    MemorySegment.ofArray(layer(in.matrix(op.weight()).floats(), op.weight()));
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
