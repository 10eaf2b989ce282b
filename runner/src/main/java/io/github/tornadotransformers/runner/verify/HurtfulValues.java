package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.RandomTensors;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Seeded values that find faults which plain random numbers miss: zeros of both signs, denormals, exponents far apart,
 * repeated values (equal maxima), and neighbours that cancel.
 */
final class HurtfulValues {
    private static final float LARGE = 1e9f;

    private final SplittableRandom random;

    HurtfulValues(long seed) {
        random = new SplittableRandom(seed);
    }

    /** Gaussian values of deviation 1, an eighth of them replaced by values that hurt. */
    float[] floats(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            float value = (float) random.nextGaussian();
            float previous = i == 0 ? 1f : values[i - 1];
            values[i] = switch (random.nextInt(48)) {
                case 0 -> 0f;
                case 1 -> -0f;
                case 2 -> value * Float.MIN_NORMAL / 4;
                case 3 -> value * LARGE;
                case 4 -> value / LARGE;
                case 5 -> previous;
                case 6 -> -previous;
                default -> value;
            };
        }
        return values;
    }

    /** Attention scores: moderate and large ones, many equal to the largest. */
    float[] scores(int count) {
        float[] values = floats(count);
        for (int i = 0; i < count; i++) {
            values[i] = switch (random.nextInt(8)) {
                case 0 -> 25f;
                case 1 -> values[i] * 100;
                default -> values[i];
            };
        }
        return values;
    }

    int[] ints(int count, int bound) {
        return random.ints(count, 0, bound).toArray();
    }

    /**
     * A matrix of finite elements of the type, scales where it has some, in the order that host engines run on. As {@code STORED} it has
     * columns of every block format that fits its rows.
     */
    HostMatrix matrix(DType dtype, int rows, int columns) {
        if (dtype == DType.STORED) {
            return stored(rows, columns);
        }
        int size = Math.multiplyExact(rows, columns);
        MemorySegment elements = Arena.ofAuto().allocate((long) size * dtype.bytes(), Long.BYTES);
        float[] values = floats(size);
        for (int i = 0; i < size; i++) {
            switch (dtype) {
                case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, values[i]);
                case BF16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, upperHalf(values[i]));
                case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(values[i] % 1000));
                case INT8 -> elements.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt(-127, 128));
                case STORED -> throw new IllegalStateException("tensors are kept apart");
            }
        }
        return new HostMatrix(dtype, rows, columns, WeightLayout.PANELS, elements, scales(dtype, rows, columns));
    }

    private HostMatrix stored(int rows, int columns) {
        List<TensorPart> parts = new ArrayList<>();
        int formats = BlockFormat.values().length;
        for (int part = 0; part < formats; part++) {
            int first = columns * part / formats;
            int count = columns * (part + 1) / formats - first;
            if (count > 0) {
                parts.add(TensorPart.transposed("part " + part, first, count));
            }
        }
        Weight matrix = new Weight("matrix", 1, rows, columns, Weight.Kind.MATRIX, parts);
        RandomTensors tensors = new RandomTensors(random.nextLong(), List.of(BlockFormat.values()));
        ArenaAllocator memory = new ArenaAllocator(Arena.ofAuto(), WeightLayout.PANELS);
        return HostMatrix.of(tensors.load(matrix, memory), matrix, 0);
    }

    private static short upperHalf(float value) {
        return (short) (Float.floatToRawIntBits(value) >>> Short.SIZE);
    }

    private MemorySegment scales(DType dtype, int rows, int columns) {
        if (dtype != DType.INT8) {
            return MemorySegment.NULL;
        }
        float[] values = floats(Math.ceilDiv(rows, DType.BLOCK) * columns);
        MemorySegment scales = Arena.ofAuto().allocate((long) values.length * Float.BYTES, Long.BYTES);
        MemorySegment.copy(values, 0, scales, ValueLayout.JAVA_FLOAT, 0, values.length);
        return scales;
    }
}
