package io.github.tornadotransformers.taskgraphs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

class DeviceArraysTest {
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

    private static MemoryPlan plan(DType dtype) {
        MemoryPlan plan = MemoryPlan.of(PROGRAM, dtype, 8, DEVICE);
        assertThat(plan.groups().count()).isGreaterThan(1);
        return plan;
    }

    /** A driver pins whole pages. */
    @ParameterizedTest
    @EnumSource(DType.class)
    void noTwoArraysShareAPage(DType dtype) {
        MemoryPlan plan = plan(dtype);
        try (DeviceArrays arrays = new DeviceArrays(plan.plan(), PROGRAM)) {
            List<TornadoNativeArray> all = new ArrayList<>();
            plan.plan().arrays().forEach(planned -> all.add(arrays.array(planned.name())));
            all.addAll(List.of(arrays.noFloats(), arrays.layer(0), arrays.layer(1)));
            Weight matrix = PROGRAM.weights().getFirst();
            DeviceMatrix first = arrays.matrix(matrix, dtype, 0);
            all.addAll(List.of(first.shorts(), first.bytes(), first.powers()));
            Map<Long, TornadoNativeArray> pages = new HashMap<>();
            for (TornadoNativeArray array : all.stream().distinct().toList()) {
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
    @EnumSource(DType.class)
    void everyLayerLiesInTheArrayOfItsGroup(DType dtype) {
        Weights weights = RandomModels.weights(PROGRAM, dtype, new RandomData(4));
        MemoryPlan plan = plan(dtype);
        for (WeightSource source : List.<WeightSource>of(_ -> weights, memory -> inPlace(weights, memory))) {
            try (DeviceArrays arrays = new DeviceArrays(plan.plan(), PROGRAM)) {
                arrays.load(PROGRAM, source);
                for (Weight weight : PROGRAM.weights()) {
                    for (int layer = 0; layer < weight.layers(); layer++) {
                        WeightData data = weights.get(weight);
                        requireSame(arrays, weight.name(), weight, layer, data.layer(layer));
                        if (data.dtype() == DType.INT8) {
                            requireSame(
                                    arrays, weight.name() + MemoryPlan.SCALES, weight, layer, data.layerScales(layer));
                        }
                    }
                }
            }
        }
    }

    private static void requireSame(
            DeviceArrays arrays, String name, Weight weight, int layer, MemorySegment expected) {
        LayerGroups groups = arrays.groups();
        int group = ArrayPlan.isStacked(weight) ? layer / groups.perGroup() : 0;
        String suffix = ArrayPlan.isStacked(weight) ? groups.suffix(group) : "";
        long at = (layer - groups.firstLayer(group)) * expected.byteSize();
        MemorySegment actual = arrays.array(name + suffix).getSegment().asSlice(at, expected.byteSize());
        assertThat(actual.mismatch(expected)).as("%s, layer %d", name, layer).isEqualTo(-1);
        assertThat(arrays.isTable(arrays.array(name + suffix))).isTrue();
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
                                    weight.name() + MemoryPlan.SCALES,
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
}
