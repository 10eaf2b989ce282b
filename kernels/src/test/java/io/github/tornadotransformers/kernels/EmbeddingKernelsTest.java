package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class EmbeddingKernelsTest {
    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void tokens(long seed) {
        RandomData data = new RandomData(seed);
        for (DType dtype : DType.OF_MATRICES) {
            int rows = data.between(1, 9);
            int live = rows == 1 ? 1 : data.between(1, rows);
            int width = data.size(389);
            int vocabSize = data.size(257);
            KernelMatrix table = KernelMatrix.of(dtype, 0, 1, width, vocabSize, data);
            int[] tokens = data.ints(rows, vocabSize);
            float[] expected = new float[live * width];
            float factor = data.coin() ? 1f : 27.5f;
            oracle.tokenEmbedding(table.host(), factor, tokens, live, expected);
            FloatArray actual = KernelArrays.nan(rows * width);
            lookUp(table, tokens, live, factor, actual);
            Bits.assertSame(dtype + " " + width, actual.toHeapArray(), padded(expected, rows * width));
        }
    }

    /** Every pattern but NaN's, which no conversion keeps: subnormals, zeros of both signs, infinities. */
    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void everyPatternOf16Bits(DType dtype) {
        short[] patterns = new short[1 << 16];
        int count = 0;
        for (int bits = 0; bits < patterns.length; bits++) {
            float value = dtype == DType.BF16 ? Float.intBitsToFloat(bits << 16) : Float.float16ToFloat((short) bits);
            if (!Float.isNaN(value)) {
                patterns[count++] = (short) bits;
            }
        }
        KernelMatrix table = KernelMatrix.ofBits(dtype, Arrays.copyOf(patterns, count));
        float[] expected = new float[count];
        oracle.tokenEmbedding(table.host(), 1f, new int[] {0}, 1, expected);
        FloatArray actual = KernelArrays.nan(count);
        lookUp(table, new int[] {0}, 1, 1f, actual);
        Bits.assertSame(dtype.name(), actual.toHeapArray(), expected);
    }

    private static void lookUp(KernelMatrix table, int[] tokens, int live, float factor, FloatArray out) {
        EmbeddingKernels.lookUpTokens(
                IntArray.fromArray(tokens),
                table.floats(),
                table.words(),
                table.scales(),
                table.powers(),
                KernelArrays.live(live),
                out,
                table.format(),
                tokens.length,
                table.host().rows(),
                table.host().columns(),
                factor);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void positions(long seed) {
        RandomData data = new RandomData(seed);
        int rows = data.between(1, 9);
        int live = rows == 1 ? 1 : data.between(1, rows);
        int width = data.size(389);
        int position = data.between(0, 5);
        float[] table = data.wildFloats((position + live) * width);
        float[] expected = data.wildFloats(rows * width);
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.positionEmbedding(table, BatchRows.of(position, live), width, expected);
        EmbeddingKernels.addPositions(
                FloatArray.fromArray(table),
                KernelArrays.step(position, rows, live, position + live),
                actual,
                rows,
                width);
        Bits.assertSame("width " + width, actual.toHeapArray(), expected);
    }

    private static float[] padded(float[] values, int size) {
        float[] padded = Arrays.copyOf(values, size);
        Arrays.fill(padded, values.length, size, Float.NaN);
        return padded;
    }
}
