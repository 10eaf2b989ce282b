package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Effect;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.CacheKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceCache;
import io.github.tornadotransformers.taskgraphs.memory.DeviceColumns;
import io.github.tornadotransformers.taskgraphs.memory.DeviceMatrix;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.KernelArguments;
import io.github.tornadotransformers.taskgraphs.memory.LayerRange;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.RotaryKey;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Collects the tasks of a part of a program. The arrays that it hands out are descriptions: what tasks ask for is what is
 * planned, and allocated later.
 */
public final class TaskBuilder {
    private static final String KEYS = "keys";
    private static final String VALUES = "values";

    private final DeviceModel model;
    private final Stage stage;
    private final int rows;
    private final LayerScope layer;
    private final List<DeviceTask> tasks = new ArrayList<>();
    private final Set<ArrayKey<?>> used = new HashSet<>();
    private final Set<ArrayKey<?>> defined = new HashSet<>();
    private Map<Buffer, Integer> versions = Map.of();

    /** @param rows tokens that the tasks work on, at most */
    public TaskBuilder(DeviceModel model, Stage stage, int rows, LayerScope layer) {
        this.model = model;
        this.stage = stage;
        this.rows = rows;
        this.layer = layer;
    }

    /** Says that the tasks that follow compute {@code op}. */
    public void begin(Op op) {
        if (op.effect() == Effect.OVERWRITES) {
            define(activation(op.output()));
        }
    }

    /** Says that the next task overwrites an array, whatever it held before. */
    public void define(PlannedArray<?> array) {
        if (!used.contains(array.key())) {
            defined.add(array.key());
        }
    }

    /** @param items how far the kernel's parallel loop runs, or those of whole groups */
    public TaskCall task(String name, long items) {
        return task(name, items, DeviceTask.GROUP);
    }

    /**
     * @param items those of whole groups
     * @param group items of a group
     */
    TaskCall task(String name, long items, int group) {
        return new TaskCall(layer.prefix() + name, items, group, this::add);
    }

    private void add(DeviceTask task) {
        task.keys().forEach(used::add);
        tasks.add(task);
    }

    public List<DeviceTask> tasks() {
        return List.copyOf(tasks);
    }

    /** What tasks so far wrote before any read it. */
    Set<ArrayKey<?>> defined() {
        return Set.copyOf(defined);
    }

    public int rows() {
        return rows;
    }

    /** Whether kernels for groups of that many items are to be used. */
    public boolean worksInGroups(int size) {
        return model.device().worksInGroups(size);
    }

    /** Items that a group of the device has, at most. */
    int mostGroupItems() {
        return model.device().maxWorkGroupSize();
    }

    /** Holds the index of the layer whose weights are used. */
    public Argument<IntArray> layer() {
        return layer.index();
    }

    /** Holds the index of the layer whose cache is used. */
    Argument<IntArray> cacheLayer() {
        return stage.keepsCache() ? layer.index() : firstLayer();
    }

    /** Holds 0. */
    public Argument<IntArray> firstLayer() {
        return LayerScope.FIRST;
    }

    /** The ids of the rows' tokens. */
    public Argument<IntArray> tokens() {
        return new PlannedArray<>(ControlKeys.TOKENS, rows);
    }

    /** What {@link Step} describes. */
    public Argument<IntArray> step() {
        return new PlannedArray<>(
                ControlKeys.step(stage), stage.selectsRows() ? Step.headSize(rows) : Step.size(rows, tablePages()));
    }

    /** Each row may be of another sequence; of those that train there is one. */
    private long tablePages() {
        long perSequence = AttentionShape.pages(model.program().contextLength());
        return stage.keepsCache() ? rows * perSequence : perSequence;
    }

    /** Elements of a page of a layer's keys, or values. */
    int pageSize() {
        return Math.toIntExact(model.program().attention().cacheLayerSize(1));
    }

    /** Pages of a layer's keys, or values. */
    Scalar<Integer> pages() {
        return Scalar.value(model.pages());
    }

    /** The mode as kernels take it. */
    public Scalar<Integer> math() {
        return Scalar.value(model.math().scalar());
    }

    /** Says which version of each buffer the tasks that follow work on, where buffers have several. */
    public void use(Map<Buffer, Integer> wanted) {
        versions = Map.copyOf(wanted);
    }

    /** The array of a buffer; the residual stream is the one that stages share. */
    public PlannedArray<FloatArray> activation(Buffer buffer) {
        Integer version = versions.get(buffer);
        if (version == null && buffer.equals(model.program().residual())) {
            return rowsOf(new StreamKey(buffer), buffer.width());
        }
        return activation(buffer, version == null ? ActivationKey.FIRST : version);
    }

    public PlannedArray<FloatArray> activation(Buffer buffer, int version) {
        return rowsOf(new ActivationKey(stage, buffer, version), buffer.width());
    }

    /** An array with a part of that many floats for each row. */
    public PlannedArray<FloatArray> rowsOf(ArrayKey<FloatArray> key, long width) {
        return new PlannedArray<>(key, Math.multiplyExact(rows, width));
    }

    /** What tasks of this stage hand on to one another. */
    public PlannedArray<FloatArray> scratch(String use, long elements) {
        return new PlannedArray<>(new ScratchKey(stage, use), elements);
    }

    public PlannedArray<FloatArray> vector(Weight weight) {
        return model.vector(weight, layer.group());
    }

    /** What a layer adds, or what its kernel does not read. */
    Argument<FloatArray> bias(Optional<Weight> bias) {
        return bias.<Argument<FloatArray>>map(this::vector).orElseGet(DeviceModel::noFloats);
    }

    public DeviceMatrix matrix(Weight weight) {
        return model.matrix(weight, layer.group());
    }

    /** Whether the tensors of a matrix are kept as they are stored, and {@link #columns} are what kernels take. */
    boolean isStored(Weight weight) {
        return model.types().isStored(weight);
    }

    /** Columns of the layer's part of a matrix, left to right. */
    List<DeviceColumns> columns(Weight weight) {
        return model.columns(weight, weight.layers() > 1 ? layer.layer() : 0);
    }

    /** The layers whose part of a weight {@link #vector} or {@link #matrix} holds. */
    public LayerRange layersOf(Weight weight) {
        return model.groups().range(weight, layer.group());
    }

    /** Cosines, then sines. */
    public Argument<FloatArray> angles(RotaryTable table) {
        return new RotaryKey(table).planned();
    }

    DeviceCache keys() {
        return stage.keepsCache() ? cache(CacheKey.Part.KEYS) : layerCache(CacheKey.Part.KEYS, KEYS);
    }

    DeviceCache values() {
        return stage.keepsCache() ? cache(CacheKey.Part.VALUES) : layerCache(CacheKey.Part.VALUES, VALUES);
    }

    private DeviceCache cache(CacheKey.Part part) {
        return DeviceCache.of(part, model.cache(part, layer.group()), KernelArguments.format(model.kvType()));
    }

    /** What every layer of a sequence that trains overwrites. */
    private DeviceCache layerCache(CacheKey.Part part, String use) {
        long size = model.program().attention().cacheLayerSize(model.pages());
        return DeviceCache.of(part, scratch(use, size), KernelArguments.format(KvType.F32));
    }
}
