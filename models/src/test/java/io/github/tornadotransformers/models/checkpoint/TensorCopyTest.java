package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TensorCopyTest {
    private static final int[] SIZES = {1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 131, 257, 300};

    /** One copy: a stored {@code [storedRows][storedColumns]} into some of a weight's columns. */
    record Case(
            StoredType stored,
            DType dtype,
            WeightLayout layout,
            int rows,
            int columns,
            boolean transposed,
            int before,
            int after,
            long seed) {}

    static Stream<Case> cases() {
        SplittableRandom random = new SplittableRandom(20_260_101);
        Stream<Case> any = IntStream.range(0, 150)
                .mapToObj(i -> new Case(
                        StoredType.values()[random.nextInt(StoredType.values().length)],
                        DType.OF_MATRICES.get(random.nextInt(DType.OF_MATRICES.size())),
                        WeightLayout.values()[random.nextInt(WeightLayout.values().length)],
                        SIZES[random.nextInt(SIZES.length)],
                        SIZES[random.nextInt(SIZES.length)],
                        random.nextBoolean(),
                        random.nextInt(5),
                        random.nextInt(5),
                        i));
        Stream<Case> byManyThreads = Stream.of(
                new Case(StoredType.F32, DType.F32, WeightLayout.PANELS, 700, 601, true, 3, 5, 1),
                new Case(StoredType.F32, DType.INT8, WeightLayout.PANELS, 601, 700, true, 0, 0, 2),
                new Case(StoredType.F32, DType.INT8, WeightLayout.ROW_MAJOR, 601, 700, false, 1, 0, 3),
                new Case(StoredType.BF16, DType.BF16, WeightLayout.PANELS, 1, 300_000, true, 0, 0, 4),
                new Case(StoredType.F16, DType.F16, WeightLayout.ROW_MAJOR, 1, 300_000, false, 0, 2, 5));
        Stream<Case> widerThanTheWindow = Stream.of(
                new Case(StoredType.F32, DType.F32, WeightLayout.PANELS, 3, 5000, false, 1, 2, 6),
                new Case(StoredType.F64, DType.INT8, WeightLayout.ROW_MAJOR, 1025, 130, true, 0, 0, 7),
                new Case(StoredType.BF16, DType.BF16, WeightLayout.PANELS, 130, 4097, false, 0, 0, 8));
        return Stream.of(any, byManyThreads, widerThanTheWindow).flatMap(cases -> cases);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void everyElementArrivesAtItsPlaceAndNoOtherIsTouched(Case shape) {
        int columns = shape.before() + shape.columns() + shape.after();
        TensorPart part = new TensorPart("t", shape.before(), shape.columns(), shape.transposed(), 0f);
        Weight weight = new Weight("w", 1, shape.rows(), columns, Weight.Kind.MATRIX, List.of(part));
        float[] values = values(shape);
        try (Arena arena = Arena.ofShared()) {
            WeightData data = untouched(weight, shape, arena);
            MemorySegment source = stored(values, shape.stored(), arena);
            long storedRows = shape.transposed() ? shape.columns() : shape.rows();
            long storedColumns = shape.transposed() ? shape.rows() : shape.columns();

            new TensorCopy(
                            shape.stored(),
                            TensorBytes.of(source),
                            storedRows,
                            storedColumns,
                            shape.transposed(),
                            data,
                            0,
                            shape.before())
                    .run();

            requireCopied(shape, values, data);
            requireUntouched(shape, data);
        }
    }

    private static float[] values(Case shape) {
        RandomTensor random = new RandomTensor(shape.seed(), "t", 0.1, 2);
        float[] values = new float[shape.rows() * shape.columns()];
        random.read(0, values, values.length);
        for (int i = 0; i < values.length; i++) {
            values[i] = NaiveConversion.stored(values[i], shape.stored());
        }
        return values;
    }

    private static MemorySegment stored(float[] values, StoredType type, Arena arena) {
        MemorySegment stored =
                arena.allocate((long) values.length * type.bytes() + 1).asSlice(1);
        for (int i = 0; i < values.length; i++) {
            switch (type) {
                case F64 -> stored.setAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i, values[i]);
                case F32 -> stored.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, values[i]);
                case F16 -> stored.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, Float.floatToFloat16(values[i]));
                case BF16 ->
                    stored.setAtIndex(
                            ValueLayout.JAVA_SHORT_UNALIGNED, i, (short) (Float.floatToIntBits(values[i]) >>> 16));
            }
        }
        return stored;
    }

    /** Memory of a weight full of a byte that no copy leaves behind by chance everywhere. */
    private static WeightData untouched(Weight weight, Case shape, Arena arena) {
        DType dtype = shape.dtype();
        MemorySegment elements = arena.allocate(WeightData.elementBytes(weight, dtype), WeightAllocator.ALIGNMENT);
        MemorySegment scales = dtype == DType.INT8
                ? arena.allocate(WeightData.scaleBytes(weight), WeightAllocator.ALIGNMENT)
                : MemorySegment.NULL;
        elements.fill((byte) 0x55);
        scales.fill((byte) 0x55);
        return new WeightData(weight, dtype, shape.layout(), List.of(elements), List.of(scales));
    }

    private static float value(Case shape, float[] values, int row, int column) {
        return values[shape.transposed() ? column * shape.rows() + row : row * shape.columns() + column];
    }

    private static void requireCopied(Case shape, float[] values, WeightData data) {
        for (int row = 0; row < shape.rows(); row++) {
            for (int column = 0; column < shape.columns(); column++) {
                float expected = shape.dtype() == DType.INT8
                        ? quantized(shape, values, row, column)
                        : NaiveConversion.kept(value(shape, values, row, column), shape.dtype());
                float found = LoadedFloats.element(data, 0, row, shape.before() + column);
                if (Float.floatToRawIntBits(found) != Float.floatToRawIntBits(expected)) {
                    assertThat(found).as("row %d, column %d", row, column).isEqualTo(expected);
                }
            }
        }
    }

    private static float quantized(Case shape, float[] values, int row, int column) {
        int first = row - row % DType.BLOCK;
        float[] block = new float[Math.min(DType.BLOCK, shape.rows() - first)];
        for (int i = 0; i < block.length; i++) {
            block[i] = value(shape, values, first + i, column);
        }
        float scale = NaiveConversion.scale(block);
        return NaiveConversion.quantized(block[row - first], scale) * scale;
    }

    private static void requireUntouched(Case shape, WeightData data) {
        int columns = data.weight().columns();
        int bytes = shape.dtype().bytes();
        for (int row = 0; row < shape.rows(); row++) {
            for (int column = 0; column < columns; column++) {
                if (column < shape.before() || column >= shape.before() + shape.columns()) {
                    long offset = data.layout().index(shape.dtype(), shape.rows(), columns, row, column) * bytes;
                    assertThat(data.elements().getFirst().asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE))
                            .as("row %d, column %d, of another part", row, column)
                            .containsOnly(0x55);
                }
            }
        }
    }
}
