package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.kernels.ElementGradientKernels;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.graphs.ControlKeys;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DevicePlan;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer;
import io.github.tornadotransformers.taskgraphs.graphs.Stage;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import io.github.tornadotransformers.taskgraphs.memory.LayerGroups;
import io.github.tornadotransformers.taskgraphs.memory.LayerRange;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.WeightKey;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.BiPredicate;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Losses and gradients on a TornadoVM device, with the host's bits. Weights, gradients and activations live there; a sequence
 * goes to the device, and three numbers of each row come back, of which its loss is computed. Kernels compile when they first
 * run.
 */
public final class TornadoTrainingPass implements GradientPass {
    private final Program program;
    private final ParameterArrays weights;
    private final ParameterArrays gradients;
    private final DeviceInfo device;
    private final DeviceArrays arrays;
    private final TrainingGraphs graphs;
    private final DevicePlan plan;

    private TornadoTrainingPass(
            Program program,
            ParameterArrays weights,
            DeviceInfo device,
            TrainingGraphs graphs,
            DeviceArrays arrays,
            BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        this.program = program;
        this.weights = weights;
        this.gradients = new ParameterArrays(program);
        this.device = device;
        this.graphs = graphs;
        this.arrays = arrays;
        this.plan = new DevicePlan(graphs.graphs(), arrays, device, kept);
    }

    /** Tells of kernels as they are compiled: when they first run. */
    public void tell(CompileListener compiling) {
        plan.tell(compiling);
    }

    /**
     * @param program for sequences of at most its context
     * @param weights copied to the device by {@link #begin}
     * @throws DeviceException if the device lacks memory, or the process runs with settings that change bits
     */
    public static TornadoTrainingPass open(Program program, ParameterArrays weights, DeviceInfo device) {
        return open(program, weights, device, (_, _) -> true);
    }

    static TornadoTrainingPass open(
            Program program,
            ParameterArrays weights,
            DeviceInfo device,
            BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        RuntimeSettings.install(MathMode.STRICT);
        RuntimeSettings.requireInEffect(MathMode.STRICT);
        TrainingGraphs graphs = new TrainingGraphs(program, device);
        MemoryPlan memory = graphs.plan(device);
        memory.requireFits(
                bytes -> "training needs " + bytes,
                () -> Wording.of("try a shorter sequence, or %s host", Term.ENGINE));
        DeviceArrays arrays = new DeviceArrays(memory);
        try {
            return new TornadoTrainingPass(program, weights, device, graphs, arrays, kept);
        } catch (RuntimeException | Error e) {
            arrays.close();
            throw e;
        }
    }

    @Override
    public Program program() {
        return program;
    }

    @Override
    public ParameterArrays weights() {
        return weights;
    }

    @Override
    public ParameterArrays gradients() {
        return gradients;
    }

    public DeviceInfo device() {
        return device;
    }

    /** Kernels compiled for the device so far; each is known to have run there. */
    public int kernelsCompiled() {
        return plan.report().kernels();
    }

    /** Nanoseconds spent on compiling kernels so far. */
    public long jitNanos() {
        return plan.report().nanos();
    }

    @Override
    public void begin() {
        forEachArray((weight, layers) -> {
            MemorySegment to = arrays.get(elements(weight, layers)).getSegment();
            for (int layer = 0; layer < layers.count(); layer++) {
                float[] from = weights.layer(weight, layers.first() + layer);
                MemorySegment.copy(from, 0, to, ValueLayout.JAVA_FLOAT, bytes(layer, from), from.length);
            }
        });
        plan.execute(graphs.begin());
    }

    @Override
    public double loss(int[] tokens, int[] targets) {
        GradientPass.requireSequence(program, tokens, targets);
        IntArray ids = arrays.get(ControlKeys.TOKENS);
        IntArray wanted = arrays.get(TrainingArrays.TARGETS);
        for (int row = 0; row < tokens.length; row++) {
            ids.set(row, tokens[row]);
            wanted.set(row, targets[row]);
        }
        IntArray step = arrays.get(ControlKeys.step(Stage.TRAINING));
        Step.setSequence(
                step, 0, TrainingGraphs.rows(program), tokens.length, AttentionShape.pages(program.contextLength()));
        arrays.get(TrainingArrays.DEPTH).set(0, 0);
        plan.execute(graphs.embedding());
        for (int layer = 0; layer < program.layers(); layer++) {
            run(layer, graphs.block(layer));
        }
        arrays.get(TrainingArrays.DEPTH).set(0, program.layers());
        plan.execute(graphs.head());
        return loss(tokens.length);
    }

    /** In double, r ascending: {@code log(sum) + (max - logit)} of each row, as the host has it. */
    private double loss(int rows) {
        FloatArray totals = arrays.get(TrainingArrays.TOTALS);
        plan.fetch(TrainingArrays.TOTALS);
        double loss = 0;
        for (int row = 0; row < rows; row++) {
            int of = row * ElementGradientKernels.TOTALS;
            double above = (double) totals.get(of + ElementGradientKernels.LARGEST)
                    - totals.get(of + ElementGradientKernels.WANTED);
            loss += StrictMath.log(totals.get(of + ElementGradientKernels.EXPONENTIALS)) + above;
        }
        return loss;
    }

    @Override
    public double lossAndGradients(int[] tokens, int[] targets, float scale) {
        double loss = loss(tokens, targets);
        arrays.get(TrainingArrays.SCALE).set(0, scale);
        plan.execute(graphs.headGradients());
        for (int layer = program.layers() - 1; layer >= 0; layer--) {
            if (layer < program.layers() - 1) {
                run(layer, graphs.block(layer));
            }
            run(layer, graphs.blockGradients(layer));
        }
        plan.execute(graphs.embeddingGradients());
        return loss;
    }

    private void run(int layer, DeviceGraph graph) {
        arrays.get(ControlKeys.LAYER).set(0, graphs.groups().indexOf(layer));
        arrays.get(TrainingArrays.DEPTH).set(0, layer);
        plan.execute(graph);
    }

    @Override
    public void readGradients() {
        forEachArray((weight, layers) -> read(new WeightGradientKey(weight, layers), gradients, weight, layers));
    }

    @Override
    public void descend(float learningRate) {
        arrays.get(TrainingArrays.FACTOR).set(0, -learningRate);
        plan.execute(graphs.descend());
    }

    @Override
    public void readWeights() {
        forEachArray((weight, layers) -> read(elements(weight, layers), weights, weight, layers));
    }

    private static WeightKey<FloatArray> elements(Weight weight, LayerRange layers) {
        return new WeightKey<>(weight, WeightKey.Part.ELEMENTS, layers, ElementType.FLOAT);
    }

    private void read(ArrayKey<FloatArray> key, ParameterArrays to, Weight weight, LayerRange layers) {
        plan.fetch(key);
        MemorySegment from = arrays.get(key).getSegment();
        for (int layer = 0; layer < layers.count(); layer++) {
            float[] values = to.layer(weight, layers.first() + layer);
            MemorySegment.copy(from, ValueLayout.JAVA_FLOAT, bytes(layer, values), values, 0, values.length);
        }
    }

    private static long bytes(int layers, float[] ofOne) {
        return (long) layers * ofOne.length * Float.BYTES;
    }

    /** What happens to the layers that an array of weights or gradients holds. */
    @FunctionalInterface
    private interface LayerAction {
        void run(Weight weight, LayerRange layers);
    }

    private void forEachArray(LayerAction action) {
        LayerGroups groups = graphs.groups();
        for (Weight weight : program.weights()) {
            for (int group = 0; group < groups.count(weight); group++) {
                action.run(weight, groups.range(weight, group));
            }
        }
    }

    @Override
    public void close() {
        plan.close();
        arrays.close();
    }
}
