package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.kernels.ElementGradientKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.NormGradientKernels;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.ArrayPlan;
import io.github.tornadotransformers.taskgraphs.memory.LayerGroups;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray.Element;
import io.github.tornadotransformers.taskgraphs.memory.Stage;
import java.util.List;

/**
 * Every array of a training step, sized from the program before any is allocated: weights and gradients, the residual stream
 * before each layer, and the activations of one layer, which are computed anew on the way back.
 */
final class TrainingMemoryPlan {
    static final String TARGETS = "targets";

    /** The residual stream before each layer, and after the last. */
    static final String STREAM = "stream";

    /** The layer whose stream is read, of all layers; {@link MemoryPlan#LAYER} is that of weights, within its group. */
    static final String DEPTH = "depth";

    /** What gradients of losses are multiplied with. */
    static final String SCALE = "scale";

    /** What gradients are multiplied with before they are added to weights. */
    static final String FACTOR = "factor";

    /** Statistics of the rows of a norm. */
    static final String STATISTICS = "statistics";

    /** Sums over probabilities. */
    static final String PROBABILITY_SUMS = "probabilitySums";

    /** What losses are computed from. */
    static final String TOTALS = "totals";

    private final Program program;
    private final ArrayPlan plan;
    private final long rows;

    private TrainingMemoryPlan(Program program, DeviceInfo device) {
        this.program = program;
        this.rows = rows(program);
        long most = program.weights().stream()
                .filter(ArrayPlan::isStacked)
                .mapToLong(weight -> ArrayPlan.layersPerArray(device, weight.layerSize(), Element.FLOAT))
                .min()
                .orElse(program.layers());
        this.plan = new ArrayPlan(device, LayerGroups.of(program.layers(), most));
    }

    /** The rows that arrays have: whole tiles. */
    static int rows(Program program) {
        int tiles = Math.ceilDiv(program.contextLength(), LinearTileKernels.TILE_ROWS);
        return Math.multiplyExact(tiles, LinearTileKernels.TILE_ROWS);
    }

    static ArrayPlan of(Program program, DeviceInfo device) {
        TrainingMemoryPlan memory = new TrainingMemoryPlan(program, device);
        program.weights().forEach(memory::addWeight);
        memory.addShared();
        memory.addPart(Stage.TRAINING, program.embedding());
        memory.addPart(Stage.TRAINING, program.kinds().getFirst().ops());
        memory.addPart(Stage.TRAINING_HEAD, program.head());
        return memory.plan;
    }

    /** @throws DeviceException if the plan does not fit the device it was made for; says both figures */
    static void requireFits(ArrayPlan plan) {
        plan.requireFits(bytes -> "training needs " + bytes, () -> "try a shorter sequence, or -e host");
    }

    private void addWeight(Weight weight) {
        for (String name : List.of(weight.name(), MemoryPlan.GRADIENT + weight.name())) {
            plan.addLayers(name, Element.FLOAT, weight.layerSize(), ArrayPlan.isStacked(weight));
        }
    }

    private void addShared() {
        addRows(STREAM, (program.layers() + 1L) * program.residual().width());
        addRows(Stage.TRAINING.array(MemoryPlan.KEYS), program.attention().keyValueWidth());
        addRows(Stage.TRAINING.array(MemoryPlan.VALUES), program.attention().keyValueWidth());
        addRows(TOTALS, ElementGradientKernels.TOTALS);
        plan.add(MemoryPlan.TOKENS, Element.INT, rows);
        plan.add(TARGETS, Element.INT, rows);
        plan.add(MemoryPlan.STEP, Element.INT, Step.SIZE);
        plan.add(MemoryPlan.LAYER, Element.INT, 1);
        plan.add(DEPTH, Element.INT, 1);
        plan.add(SCALE, Element.FLOAT, 1);
        plan.add(FACTOR, Element.FLOAT, 1);
    }

    private void addPart(Stage stage, List<Op> ops) {
        addRows(stage.array(program.residual().name()), program.residual().width());
        for (TrainedOp trained : TrainedOp.of(ops, program.residual())) {
            Op op = trained.op();
            int width = op.output().width();
            addRows(stage.array(trained.output()), width);
            addRows(Stage.TRAINING.array(MemoryPlan.GRADIENT + op.output().name()), width);
            addScratch(stage, op);
        }
    }

    private void addScratch(Stage stage, Op op) {
        switch (op) {
            case Op.LayerNorm _, Op.RmsNorm _ -> {
                plan.addScratch(stage, op, rows);
                addRows(stage.array(STATISTICS), NormGradientKernels.STATISTICS);
            }
            case Op.Linear linear -> {
                if (TrainingTasks.isFinished(linear)) {
                    addRows(stage.array(MemoryPlan.SUMS), linear.output().width());
                }
                if (linear.activation() != Activation.NONE) {
                    addRows(
                            stage.array(TrainedOp.sumOf(linear)),
                            linear.output().width());
                }
            }
            case Op.Softmax softmax -> {
                plan.addScratch(stage, op, rows);
                addRows(stage.array(PROBABILITY_SUMS), softmax.shape().heads());
            }
            case Op.Rotary _, Op.AttentionOutput _ -> plan.addScratch(stage, op, rows);
            case Op.TokenEmbedding _,
                    Op.PositionEmbedding _,
                    Op.CacheAppend _,
                    Op.AttentionScores _,
                    Op.GatedMlp _,
                    Op.Scale _,
                    Op.SelectRows _ -> {}
        }
    }

    private void addRows(String name, long width) {
        plan.addLargest(name, Math.multiplyExact(rows, width));
    }
}
