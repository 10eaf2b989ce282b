package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Effect;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.memory.DeviceMatrix;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.Stage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Collects the tasks of a part of a program, and knows the arrays they work on. */
public final class TaskBuilder {
    private final DeviceModel model;
    private final Stage stage;
    private final int rows;
    private final IntArray layer;
    private final int group;
    private final String prefix;
    private final List<DeviceTask> tasks = new ArrayList<>();
    private final Set<TornadoNativeArray> used = new HashSet<>();
    private final Set<TornadoNativeArray> defined = new HashSet<>();
    private Map<Buffer, String> names = Map.of();

    /**
     * @param rows tokens that the tasks work on, at most
     * @param layer holds the index of the layer whose weights and cache are used
     * @param group whose layers' weights and cache are used; {@code layer} counts within it
     * @param prefix before the names of tasks, to tell layers apart where a graph holds several
     */
    public TaskBuilder(DeviceModel model, Stage stage, int rows, IntArray layer, int group, String prefix) {
        this.model = model;
        this.stage = stage;
        this.rows = rows;
        this.layer = layer;
        this.group = group;
        this.prefix = prefix;
    }

    /** Calls {@link TaskGraph}'s {@code task} of the right number of arguments. */
    @FunctionalInterface
    public interface TaskAdder {
        void add(TaskGraph graph, String id);
    }

    /** Says that the tasks that follow compute {@code op}. */
    public void begin(Op op) {
        if (overwritesOutput(op)) {
            define(activation(op.output()));
        }
    }

    /** Says that the next task overwrites an array, whatever it held before. */
    public void define(FloatArray array) {
        if (!used.contains(array)) {
            defined.add(array);
        }
    }

    /** Whether an Op writes its output whole, whatever it held before. */
    private static boolean overwritesOutput(Op op) {
        return op.effect() == Effect.OVERWRITES;
    }

    /**
     * @param items how far the kernel's parallel loop runs
     * @param scalars how many of its arguments are no arrays
     * @param arrays those that are, as often as they are
     */
    public void task(String name, long items, int scalars, List<TornadoNativeArray> arrays, TaskAdder adder) {
        String id = prefix + name;
        used.addAll(arrays);
        tasks.add(new DeviceTask(id, items, arrays.size() + scalars, arrays, graph -> adder.add(graph, id)));
    }

    public List<DeviceTask> tasks() {
        return List.copyOf(tasks);
    }

    /** What tasks so far wrote before any read it. */
    public Set<TornadoNativeArray> defined() {
        return defined;
    }

    public int rows() {
        return rows;
    }

    public IntArray layer() {
        return layer;
    }

    /** What {@link io.github.tornadotransformers.kernels.Step} describes. */
    public IntArray step() {
        return ints(stage == Stage.HEAD ? MemoryPlan.HEAD_STEP : MemoryPlan.STEP);
    }

    /** The mode as kernels take it. */
    public int math() {
        return model.math().scalar();
    }

    /** Says what the arrays of buffers are called for the tasks that follow, where a buffer has several. */
    public void name(Map<Buffer, String> wanted) {
        names = wanted;
    }

    /** The array of a buffer; the residual stream is the one that stages share. */
    public FloatArray activation(Buffer buffer) {
        if (names.containsKey(buffer)) {
            return scratch(names.get(buffer));
        }
        return buffer.equals(model.program().residual()) ? floats(buffer.name()) : scratch(buffer.name());
    }

    /** An array that belongs to this stage. */
    public FloatArray scratch(String name) {
        return floats(stage.array(name));
    }

    public FloatArray vector(Weight weight) {
        return model.arrays().vector(weight, group);
    }

    public DeviceMatrix matrix(Weight weight) {
        return model.arrays().matrix(weight, model.dtype(), group);
    }

    /** Where the gradient of a buffer is added up: one array serves all that the buffer is. */
    public FloatArray gradient(Buffer buffer) {
        return floats(Stage.TRAINING.array(MemoryPlan.GRADIENT + buffer.name()));
    }

    public FloatArray gradient(Weight weight) {
        return model.arrays().gradient(weight, group);
    }

    public FloatArray keys() {
        return keepsCache() ? model.arrays().floats(MemoryPlan.KEYS, group) : scratch(MemoryPlan.KEYS);
    }

    public FloatArray values() {
        return keepsCache() ? model.arrays().floats(MemoryPlan.VALUES, group) : scratch(MemoryPlan.VALUES);
    }

    /** Holds the index of the layer whose cache is used. */
    public IntArray cacheLayer() {
        return keepsCache() ? layer : firstLayer();
    }

    /** Holds 0. */
    public IntArray firstLayer() {
        return model.arrays().layer(0);
    }

    /** Whether there is a cache of every layer; training has one, which the next layer overwrites. */
    private boolean keepsCache() {
        return stage != Stage.TRAINING;
    }

    public FloatArray floats(String name) {
        return model.arrays().floats(name);
    }

    public IntArray ints(String name) {
        return model.arrays().ints(name);
    }

    /** In place of an array that a kernel takes and does not read. */
    public FloatArray noFloats() {
        return model.arrays().noFloats();
    }
}
