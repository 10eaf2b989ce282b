package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import java.util.stream.LongStream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * A program as a device will have it: which array each weight and each layer's cache is in.
 *
 * @param dtype of its matrices
 * @param kvType of its keys and values
 * @param pages of the cache, in every layer
 */
public record DeviceModel(
        Program program, DType dtype, KvType kvType, MathMode math, DeviceInfo device, LayerGroups groups, int pages) {
    private static final ConstantKey.Unread<FloatArray> NO_FLOATS = new ConstantKey.Unread<>(ElementType.FLOAT);

    /** With as many layers in an array as the device and an int allow. */
    public static DeviceModel of(
            Program program, DType dtype, KvType kvType, MathMode math, DeviceInfo device, int pages) {
        long cached = layersPerArray(
                device, program.attention().cacheLayerSize(pages), type(kvType).bytes());
        return new DeviceModel(
                program,
                dtype,
                kvType,
                math,
                device,
                LayerGroups.of(program.layers(), Math.min(cached, stackable(program, dtype, device))),
                pages);
    }

    /** As {@link #of}, where a cache holds a layer of one sequence. */
    public static DeviceModel withoutCache(Program program, DType dtype, MathMode math, DeviceInfo device) {
        return new DeviceModel(
                program,
                dtype,
                KvType.F32,
                math,
                device,
                LayerGroups.of(program.layers(), stackable(program, dtype, device)),
                AttentionShape.pages(program.contextLength()));
    }

    /** How many layers of each weight fit an array. */
    private static long stackable(Program program, DType dtype, DeviceInfo device) {
        LongStream layers = program.weights().stream()
                .filter(weight -> weight.layers() > 1)
                .mapToLong(weight -> layersPerArray(
                        device, weight.layerSize(), dtype(weight, dtype).bytes()));
        return layers.min().orElse(program.layers());
    }

    /** Whole words of elements whose index is an int. */
    private static long layersPerArray(DeviceInfo device, long layerSize, int elementBytes) {
        long bytes = device.maxAllocationBytes() - Integer.BYTES - TornadoNativeArray.ARRAY_HEADER;
        return Math.min(Integer.MAX_VALUE, bytes / elementBytes) / layerSize;
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
        int format = KernelArguments.format(dtype(weight, dtype), device.backend());
        PlannedArray<?> elements =
                format == WeightFormat.F32 ? vector(weight, group) : words(weight, group, WeightFormat.perWord(format));
        return new DeviceMatrix(
                elements.orUnread(ElementType.FLOAT),
                elements.orUnread(ElementType.INT),
                format == WeightFormat.INT8 ? scales(weight, group) : NO_FLOATS,
                new ConstantKey.Powers(format),
                Scalar.value(format));
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
}
