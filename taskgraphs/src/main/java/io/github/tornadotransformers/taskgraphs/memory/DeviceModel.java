package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.ColumnRun;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * A program as a device will have it: which array each weight and each layer's cache is in.
 *
 * @param types of its matrices
 * @param kvType of its keys and values
 * @param pages of the cache, in every layer
 */
public record DeviceModel(
        Program program,
        MatrixTypes types,
        KvType kvType,
        MathMode math,
        DeviceInfo device,
        LayerGroups groups,
        int pages) {
    private static final ConstantKey.Unread<FloatArray> NO_FLOATS = new ConstantKey.Unread<>(ElementType.FLOAT);
    private static final ConstantKey.Unread<IntArray> NO_INTS = new ConstantKey.Unread<>(ElementType.INT);
    private static final int NOWHERE = -1;

    /** With as many layers in an array as the device and an int allow. */
    public static DeviceModel of(
            Program program, MatrixTypes types, KvType kvType, MathMode math, DeviceInfo device, int pages) {
        long cached = layersPerArray(
                device, program.attention().cacheLayerSize(pages), type(kvType).bytes());
        return new DeviceModel(
                program,
                types,
                kvType,
                math,
                device,
                LayerGroups.of(program.layers(), Math.min(cached, stackable(program, types, device))),
                pages);
    }

    /** As {@link #of}, where a cache holds a layer of one sequence. */
    public static DeviceModel withoutCache(Program program, MatrixTypes types, MathMode math, DeviceInfo device) {
        return new DeviceModel(
                program,
                types,
                KvType.F32,
                math,
                device,
                LayerGroups.of(program.layers(), stackable(program, types, device)),
                AttentionShape.pages(program.contextLength()));
    }

    /** How many layers of each weight fit an array. */
    private static long stackable(Program program, MatrixTypes types, DeviceInfo device) {
        LongStream layers = program.weights().stream()
                .filter(weight -> weight.layers() > 1)
                .mapToLong(weight -> types.isStored(weight)
                        ? layersPerArray(device, largestLayer(weight, types), Integer.BYTES)
                        : layersPerArray(
                                device,
                                weight.layerSize(),
                                dtype(weight, types.dtype()).bytes()));
        return layers.min().orElse(program.layers());
    }

    /** Words or floats of the layer of a matrix that has most. */
    private static long largestLayer(Weight weight, MatrixTypes types) {
        return IntStream.range(0, weight.layers())
                .mapToLong(layer -> Math.max(types.words(weight, layer), types.floats(weight, layer)))
                .max()
                .orElseThrow();
    }

    /** Whole words of elements whose index is an int. */
    private static long layersPerArray(DeviceInfo device, long layerSize, int elementBytes) {
        long bytes = device.maxAllocationBytes() - Integer.BYTES - TornadoNativeArray.ARRAY_HEADER;
        return Math.min(Integer.MAX_VALUE, bytes / elementBytes) / layerSize;
    }

    /** Of matrices. */
    public DType dtype() {
        return types.dtype();
    }

    private static DType dtype(Weight weight, DType ofMatrices) {
        return weight.kind() == Weight.Kind.MATRIX ? ofMatrices : DType.F32;
    }

    private static ElementType<?> type(KvType kvType) {
        return switch (kvType) {
            case F32 -> ElementType.FLOAT;
            case BF16, F16 -> ElementType.SHORT;
        };
    }

    /** @param group of layers, where the weight is stacked */
    public DeviceMatrix matrix(Weight weight, int group) {
        int format = KernelArguments.format(dtype(weight, dtype()), device.backend());
        PlannedArray<?> elements =
                format == WeightFormat.F32 ? vector(weight, group) : words(weight, group, WeightFormat.perWord(format));
        return new DeviceMatrix(
                elements.orUnread(ElementType.FLOAT),
                elements.orUnread(ElementType.INT),
                format == WeightFormat.INT8 ? scales(weight, group) : NO_FLOATS,
                new ConstantKey.Powers(format),
                Scalar.value(format));
    }

    /** Which layers' columns of a matrix, whose tensors are kept as they are stored, are kept alike. */
    public List<ColumnRun> runs(Weight weight, int layer) {
        return types.runs(weight, layer);
    }

    /**
     * The columns of a matrix whose tensors are kept as they are stored.
     *
     * @param layer counted from the model's first; layers that are kept alike have equal columns where they are in one group
     */
    public List<DeviceColumns> columns(Weight weight, int layer) {
        LayerRange layers = groups.range(weight, groups.of(layer));
        List<ColumnRun> runs = types.runs(weight, layer);
        Argument<FloatArray> floats = part(weight, layers, WeightKey.Part.SCALES, ElementType.FLOAT, types::floats);
        Argument<IntArray> words = part(weight, layers, WeightKey.Part.ELEMENTS, ElementType.INT, types::words);
        List<DeviceColumns> columns = new ArrayList<>();
        for (int index = 0; index < runs.size(); index++) {
            ColumnRun run = runs.get(index);
            int format = KernelArguments.format(run.type(), device.backend());
            columns.add(new DeviceColumns(
                    Scalar.value(run.firstColumn()),
                    Scalar.value(run.columns()),
                    floats,
                    words,
                    new ConstantKey.Powers(format),
                    places(weight, layers, runs, index),
                    Scalar.value(format)));
        }
        return List.copyOf(columns);
    }

    /** What all columns of a group's layers have in an array, if they have anything. */
    private static <T extends TornadoNativeArray> Argument<T> part(
            Weight weight,
            LayerRange layers,
            WeightKey.Part part,
            ElementType<T> type,
            ToLongBiFunction<Weight, Integer> elements) {
        long all = layers.stream()
                .mapToLong(layer -> elements.applyAsLong(weight, layer))
                .reduce(0, Math::addExact);
        return all == 0
                ? new ConstantKey.Unread<>(type, part.name())
                : new PlannedArray<>(new WeightKey<>(weight, part, layers, type), all);
    }

    /** Where columns begin in the arrays of a group's layers; nowhere in layers that are kept otherwise. */
    private Argument<IntArray> places(Weight weight, LayerRange layers, List<ColumnRun> runs, int index) {
        List<Integer> starts = new ArrayList<>();
        long word = 0;
        long first = 0;
        for (int layer : layers.stream().toArray()) {
            List<ColumnRun> own = types.runs(weight, layer);
            List<ColumnRun> before = own.subList(0, Math.min(index, own.size()));
            boolean alike = own.equals(runs);
            starts.add(alike ? place(word, before, run -> MatrixTypes.words(weight, run)) : NOWHERE);
            starts.add(alike ? place(first, before, run -> MatrixTypes.floats(weight, run)) : NOWHERE);
            word += types.words(weight, layer);
            first += types.floats(weight, layer);
        }
        return new ConstantKey.Places(starts);
    }

    /** An int unless the array is too large, which the plan refuses. */
    private static int place(long start, List<ColumnRun> before, ToLongFunction<ColumnRun> size) {
        return (int) (start + before.stream().mapToLong(size).sum());
    }

    /** A kernel's index of an element is an int: where there are too many for one, so there are of words. */
    private PlannedArray<IntArray> words(Weight weight, int group, int perWord) {
        PlannedArray<IntArray> elements = elements(weight, group, ElementType.INT);
        return elements.elements() > Integer.MAX_VALUE
                ? elements
                : new PlannedArray<>(elements.key(), Math.ceilDiv(elements.elements(), perWord));
    }

    /** A weight that is float32. */
    public PlannedArray<FloatArray> vector(Weight weight, int group) {
        return elements(weight, group, ElementType.FLOAT);
    }

    private <T extends TornadoNativeArray> PlannedArray<T> elements(Weight weight, int group, ElementType<T> type) {
        LayerRange layers = groups.range(weight, group);
        WeightKey<T> key = new WeightKey<>(weight, WeightKey.Part.ELEMENTS, layers, type);
        return new PlannedArray<>(key, Math.multiplyExact(weight.layerSize(), layers.count()));
    }

    private PlannedArray<FloatArray> scales(Weight weight, int group) {
        LayerRange layers = groups.range(weight, group);
        long perLayer = WeightData.scaleBytes(weight) / Float.BYTES / weight.layers();
        WeightKey<FloatArray> key = new WeightKey<>(weight, WeightKey.Part.SCALES, layers, ElementType.FLOAT);
        return new PlannedArray<>(key, Math.multiplyExact(perLayer, layers.count()));
    }

    public PlannedArray<?> cache(CacheKey.Part part, int group) {
        return cache(part, group, type(kvType));
    }

    private <T extends TornadoNativeArray> PlannedArray<T> cache(CacheKey.Part part, int group, ElementType<T> type) {
        LayerRange layers = groups.range(group);
        return new PlannedArray<>(
                new CacheKey<>(part, layers, type),
                Math.multiplyExact(program.attention().cacheLayerSize(pages), layers.count()));
    }

    /** In place of floats that a kernel takes and does not read. */
    public static Argument<FloatArray> noFloats() {
        return NO_FLOATS;
    }

    /** Likewise of ints. */
    public static Argument<IntArray> noInts() {
        return NO_INTS;
    }
}
