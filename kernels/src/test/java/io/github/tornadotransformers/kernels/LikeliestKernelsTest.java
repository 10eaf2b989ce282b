package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.models.generation.Logits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class LikeliestKernelsTest {
    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    /** Few logits, or more than there are parts; few values, so that many are the largest. */
    @ParameterizedTest
    @MethodSource("seeds")
    void isTheLowestOfTheLargest(long seed) {
        RandomData data = new RandomData(seed);
        float[] logits = new float[data.coin() ? data.size(300) : data.between(8000, 40_000)];
        int values = data.coin() ? 3 : logits.length;
        for (int i = 0; i < logits.length; i++) {
            logits[i] = data.between(0, values) - 2f * values;
        }
        assertThat(likeliest(logits)).isEqualTo(Logits.argmax(logits, logits.length));
    }

    @ParameterizedTest
    @CsvSource({"5", "129", "20000"})
    void zerosAreAsLargeAsEachOther(int count) {
        float[] logits = new float[count];
        Arrays.fill(logits, -1f);
        logits[count - 2] = -0f;
        logits[count - 1] = 0f;
        assertThat(likeliest(logits)).isEqualTo(count - 2);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "5, 3", "300, 299", "20000, 8192", "20000, 19999", "20000, 0"})
    void isNoneWhereALogitIsNotFinite(int count, int at) {
        for (float broken : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] logits = new RandomData(count).floats(count);
            logits[at] = broken;
            assertThat(likeliest(logits)).isEqualTo(LikeliestKernels.NOT_FINITE);
        }
    }

    /** Of several rows each has its own, and padding none. */
    @ParameterizedTest
    @MethodSource("seeds")
    void isEachRowsOwn(long seed) {
        RandomData data = new RandomData(seed);
        int count = data.coin() ? data.size(300) : data.between(8000, 20_000);
        int rows = data.between(1, 4);
        int live = data.between(1, rows);
        float[] logits = data.floats(rows * count);
        Arrays.fill(logits, live * count, rows * count, Float.NaN);
        IntArray likeliest = likeliest(logits, rows, live);
        for (int row = 0; row < live; row++) {
            float[] own = Arrays.copyOfRange(logits, row * count, (row + 1) * count);
            assertThat(likeliest.get(row)).isEqualTo(Logits.argmax(own, count));
        }
    }

    private static int likeliest(float[] logits) {
        return likeliest(logits, 1, 1).get(0);
    }

    private static IntArray likeliest(float[] logits, int rows, int live) {
        int count = logits.length / rows;
        int parts = rows * LikeliestKernels.parts(count);
        FloatArray largest = KernelArrays.nan(parts);
        IntArray found = new IntArray(parts * LikeliestKernels.FOUND);
        IntArray likeliest = new IntArray(rows);
        LikeliestKernels.ofParts(FloatArray.fromArray(logits), KernelArrays.live(live), largest, found, rows, count);
        WorkGroups.run(
                rows,
                LikeliestKernels.GROUP,
                context -> LikeliestKernels.ofAll(context, largest, found, likeliest, count));
        return likeliest;
    }
}
