package io.github.tornadotransformers.taskgraphs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** What tasks ask for is what is allocated, once for each key. */
class DeviceArraysTest {
    private static final NamedKey<FloatArray> SUMS = NamedKey.floats("sums");
    private static final NamedKey<IntArray> IDS = NamedKey.ints("ids");
    private static final Program PROGRAM =
            new Gpt2Config(new Sizes(97, 140, 132, 35, 5), 3, 1e-5f, true, true).program(64);

    /** So small that an array holds two layers of bytes, and one of anything wider. */
    private static final DeviceInfo DEVICE = new DeviceInfo(
            new DeviceId(0, 0),
            Backend.CUDA,
            DeviceInfo.Kind.GPU,
            "some GPU",
            "some platform",
            1L << 30,
            110_000,
            256,
            true,
            true);

    private static MemoryPlan plan(PlannedArray<?>... wanted) {
        return new MemoryPlan(DEVICE, Stream.of(wanted));
    }

    private static DeviceModel model(DType dtype) {
        DeviceModel model = DeviceModel.of(PROGRAM, MatrixTypes.of(dtype), KvType.F32, MathMode.STRICT, DEVICE, 1);
        assertThat(model.groups().count()).isGreaterThan(1);
        return model;
    }

    /** All weights, the cache, constants, and two small arrays. */
    private static List<Argument<?>> arguments(DeviceModel model) {
        List<Argument<?>> arguments = new ArrayList<>();
        for (Weight weight : PROGRAM.weights()) {
            for (int group = 0; group < model.groups().count(weight); group++) {
                DeviceMatrix matrix = model.matrix(weight, group);
                arguments.addAll(List.of(matrix.floats(), matrix.words(), matrix.scales(), matrix.powers()));
            }
        }
        for (int group = 0; group < model.groups().count(); group++) {
            arguments.add(model.cache(CacheKey.Part.KEYS, group));
            arguments.add(model.cache(CacheKey.Part.VALUES, group));
        }
        arguments.add(new ConstantKey.Layer(0));
        arguments.add(new ConstantKey.Layer(1));
        arguments.add(new PlannedArray<>(SUMS, 3));
        arguments.add(new PlannedArray<>(IDS, 3));
        return arguments;
    }

    private static MemoryPlan plan(List<Argument<?>> arguments) {
        return new MemoryPlan(
                DEVICE,
                arguments.stream()
                        .flatMap(
                                each -> each instanceof PlannedArray<?> planned ? Stream.of(planned) : Stream.empty()));
    }

    /** A driver pins whole pages. */
    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void noTwoArraysShareAPage(DType dtype) {
        List<Argument<?>> arguments = arguments(model(dtype));
        try (DeviceArrays arrays = new DeviceArrays(plan(arguments))) {
            Map<Long, TornadoNativeArray> pages = new HashMap<>();
            for (Object each : arguments.stream()
                    .map(argument -> argument.in(arrays))
                    .distinct()
                    .toList()) {
                TornadoNativeArray array = (TornadoNativeArray) each;
                MemorySegment memory = array.getSegmentWithHeader();
                long last = (memory.address() + memory.byteSize() - 1) / OwnPages.PAGE;
                for (long page = memory.address() / OwnPages.PAGE; page <= last; page++) {
                    assertThat(pages.put(page, array)).isNull();
                }
                assertThat(array.getSegment().address() % WeightAllocator.ALIGNMENT)
                        .isZero();
            }
        }
    }

    /** Whether the source writes them in place or hands out its own. */
    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void everyLayerLiesInTheArrayOfItsGroup(DType dtype) {
        Weights weights = RandomModels.weights(PROGRAM, dtype, new RandomData(4));
        DeviceModel model = model(dtype);
        for (WeightSource source : List.<WeightSource>of(_ -> weights, memory -> inPlace(weights, memory))) {
            try (DeviceArrays arrays = new DeviceArrays(plan(arguments(model)))) {
                arrays.load(source);
                for (Weight weight : PROGRAM.weights()) {
                    for (int layer = 0; layer < weight.layers(); layer++) {
                        requireSame(arrays, model, weights.get(weight), layer);
                    }
                }
            }
        }
    }

    private static void requireSame(DeviceArrays arrays, DeviceModel model, WeightData data, int layer) {
        LayerGroups groups = model.groups();
        boolean isStacked = data.weight().layers() > 1;
        DeviceMatrix matrix = model.matrix(data.weight(), isStacked ? groups.of(layer) : 0);
        int index = isStacked ? groups.indexOf(layer) : 0;
        Argument<?> elements = data.dtype() == DType.F32 ? matrix.floats() : matrix.words();
        requireSame(arrays, elements, index, data.layer(layer));
        if (data.dtype() == DType.INT8) {
            requireSame(arrays, matrix.scales(), index, data.layerScales(layer));
        }
    }

    private static void requireSame(DeviceArrays arrays, Argument<?> argument, int index, MemorySegment expected) {
        MemorySegment memory = ((TornadoNativeArray) argument.in(arrays)).getSegment();
        MemorySegment actual = memory.asSlice(index * expected.byteSize(), expected.byteSize());
        assertThat(actual.mismatch(expected))
                .as("%s, layer %d", argument, index)
                .isEqualTo(-1);
    }

    private static Weights inPlace(Weights weights, WeightAllocator memory) {
        Map<Weight, WeightData> copies = new HashMap<>();
        for (Weight weight : PROGRAM.weights()) {
            WeightData data = weights.get(weight);
            boolean scaled = data.dtype() == DType.INT8;
            WeightData copy = new WeightData(
                    weight,
                    data.dtype(),
                    data.layout(),
                    memory.allocateLayers(
                            weight.name(), weight.layers(), data.layer(0).byteSize()),
                    scaled
                            ? memory.allocateLayers(
                                    WeightAllocator.scalesOf(weight),
                                    weight.layers(),
                                    data.layerScales(0).byteSize())
                            : List.of());
            for (int layer = 0; layer < weight.layers(); layer++) {
                copy.layer(layer).copyFrom(data.layer(layer));
                if (scaled) {
                    copy.layerScales(layer).copyFrom(data.layerScales(layer));
                }
            }
            copies.put(weight, copy);
        }
        return new Weights(copies);
    }

    @Test
    void theLargestOfEqualKeysIsAllocated() {
        MemoryPlan plan = plan(
                new PlannedArray<>(SUMS, 3),
                new PlannedArray<>(IDS, 5),
                new PlannedArray<>(NamedKey.floats("sums"), 7),
                new PlannedArray<>(SUMS, 2));
        try (DeviceArrays arrays = new DeviceArrays(plan)) {
            assertThat(arrays.get(SUMS).getSize()).isEqualTo(7);
            assertThat(arrays.get(IDS).getSize()).isEqualTo(5);
        }
        assertThat(plan.bytes()).isEqualTo((7 + 5) * 4 + 2 * FloatArray.ARRAY_HEADER);
    }

    @Test
    void whatNoTaskAskedForIsNotThere() {
        try (DeviceArrays arrays = new DeviceArrays(plan(new PlannedArray<>(SUMS, 3)))) {
            assertThatThrownBy(() -> arrays.get(NamedKey.floats("other")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("no array is planned for other");
        }
    }

    /** Kernels that take constants find them without a plan, the same one for equal keys. */
    @Test
    void constantsAreMadeWhenTheyAreWanted() {
        try (DeviceArrays arrays = new DeviceArrays(plan())) {
            IntArray layer = arrays.get(new ConstantKey.Layer(3));
            assertThat(layer.toHeapArray()).containsExactly(3);
            assertThat(arrays.get(new ConstantKey.Layer(3))).isSameAs(layer);
            assertThat(arrays.get(new ConstantKey.Layer(4))).isNotSameAs(layer);
            assertThat(arrays.get(new ConstantKey.Unread<>(ElementType.SHORT)).getSize())
                    .isEqualTo(1);
        }
    }

    @Test
    void rotationsAreFilledFromTheirTable() {
        RotaryTable table = RotaryTable.of(new double[] {1, 0.5}, 1, 3);
        RotaryKey key = new RotaryKey(table);
        try (DeviceArrays arrays = new DeviceArrays(plan(key.planned()))) {
            float[] found = arrays.get(key).toHeapArray();
            assertThat(found).hasSize(12);
            assertThat(found[2]).isEqualTo((float) Math.cos(1));
            assertThat(found[6 + 5]).isEqualTo((float) Math.sin(2 * 0.5));
        }
    }

    /** A task that stores both has no array twice, used or not: TornadoVM would wait for ever for it to come before itself. */
    @ParameterizedTest
    @EnumSource
    void keysAndValuesShareNoArray(KvType type) {
        DeviceModel model = DeviceModel.of(PROGRAM, MatrixTypes.of(DType.F32), type, MathMode.STRICT, DEVICE, 1);
        int format = KernelArguments.format(type);
        DeviceCache keys = DeviceCache.of(CacheKey.Part.KEYS, model.cache(CacheKey.Part.KEYS, 0), format);
        DeviceCache values = DeviceCache.of(CacheKey.Part.VALUES, model.cache(CacheKey.Part.VALUES, 0), format);
        assertThat(keys.floats()).isNotEqualTo(values.floats());
        assertThat(keys.shorts()).isNotEqualTo(values.shorts());
    }

    /** What only names memory of the device takes none of the host's: no more than a hundredth. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void whatIsNotTouchedIsNotThere() throws IOException {
        long elements = 1L << 26;
        long before = residentBytes();
        try (DeviceArrays arrays = new DeviceArrays(plan(new PlannedArray<>(SUMS, elements)))) {
            assertThat(residentBytes() - before).isLessThan(elements * Float.BYTES / 100);
            FloatArray array = arrays.get(SUMS);
            assertThat(array.get((int) elements - 1)).isZero();
            array.set((int) elements - 1, 1f);
            assertThat(array.get((int) elements - 1)).isOne();
            array.init(2f);
            assertThat(residentBytes() - before).isGreaterThan(elements * Float.BYTES / 2);
        }
        assertThat(residentBytes() - before).isLessThan(elements * Float.BYTES / 2);
    }

    private static long residentBytes() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(each -> each.startsWith("VmRSS:"))
                .findFirst()
                .orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
    }
}
