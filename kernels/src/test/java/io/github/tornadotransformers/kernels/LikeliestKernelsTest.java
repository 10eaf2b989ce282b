package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RankedTokens;
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

    /** Few logits, or more than there are parts; few values, so that many are equal, zeros of both signs among them. */
    @ParameterizedTest
    @MethodSource("seeds")
    void areThoseOfASort(long seed) {
        RandomData data = new RandomData(seed);
        float[] logits = new float[data.coin() ? data.size(300) : data.between(8000, 40_000)];
        int values = data.coin() ? 3 : logits.length;
        int lowest = data.coin() ? 0 : -2 * values;
        for (int i = 0; i < logits.length; i++) {
            logits[i] = lowest - data.between(0, values) + (data.coin() ? 0f : -0f);
            logits[i] = logits[i] == 0 && data.coin() ? -0f : logits[i];
        }
        int count = data.between(1, Math.min(LikeliestKernels.MOST, logits.length));
        requireRanked(likeliest(logits, 1, count), 0, logits, count);
    }

    /** Those of one part, of one item of the group, and all that there are. */
    @ParameterizedTest
    @CsvSource({"20000, 8192, 3", "40000, 8192, 5", "20000, 128, 64", "64, 1, 64", "1, 1, 1", "5, 2, 5", "129, 1, 64"})
    void areFoundWhereverTheyAre(int logits, int apart, int count) {
        for (boolean equal : new boolean[] {false, true}) {
            float[] all = new RandomData(logits).floats(logits);
            for (int i = 3 % apart; i < logits; i += apart) {
                all[i] = equal ? 100 : all[i] + 100;
            }
            requireRanked(likeliest(all, 1, count), 0, all, count);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "5, 3", "300, 299", "20000, 8192", "20000, 19999", "20000, 0"})
    void areNoneWhereALogitIsNotFinite(int count, int at) {
        for (float broken : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] logits = new RandomData(count).floats(count);
            logits[at] = broken;
            for (int wanted : new int[] {1, Math.min(count, 40)}) {
                float index = likeliest(logits, 1, wanted).get(LikeliestKernels.index(0, 0));
                assertThat((int) index).isEqualTo(LikeliestKernels.NOT_FINITE);
            }
        }
    }

    /** Of several rows each has its own, as many as it wants, and padding none. */
    @ParameterizedTest
    @MethodSource("seeds")
    void areEachRowsOwn(long seed) {
        RandomData data = new RandomData(seed);
        int count = data.coin() ? data.between(40, 300) : data.between(8000, 20_000);
        int rows = data.between(1, 4);
        int[] wanted = data.ints(data.between(1, rows), 40);
        float[] logits = data.floats(rows * count);
        Arrays.fill(logits, wanted.length * count, rows * count, Float.NaN);
        FloatArray likeliest = likeliest(logits, rows, wanted);
        for (int row = 0; row < wanted.length; row++) {
            requireRanked(likeliest, row, Arrays.copyOfRange(logits, row * count, (row + 1) * count), wanted[row]);
        }
        for (int i = LikeliestKernels.index(wanted.length, 0); i < likeliest.getSize(); i++) {
            assertThat(likeliest.get(i)).isNaN();
        }
    }

    private static void requireRanked(FloatArray likeliest, int row, float[] logits, int count) {
        Candidates expected = RankedTokens.of(logits, 0, logits.length, count);
        int[] ids = new int[count];
        float[] largest = new float[count];
        for (int rank = 0; rank < count; rank++) {
            ids[rank] = (int) likeliest.get(LikeliestKernels.index(row, rank));
            largest[rank] = likeliest.get(LikeliestKernels.logit(row, rank));
        }
        assertThat(ids).containsExactly(expected.ids());
        Bits.assertSame("row " + row, largest, expected.logits());
        for (int rank = count; rank < LikeliestKernels.MOST; rank++) {
            assertThat(likeliest.get(LikeliestKernels.index(row, rank))).isNaN();
        }
    }

    private static FloatArray likeliest(float[] logits, int rows, int... wanted) {
        int count = logits.length / rows;
        FloatArray x = FloatArray.fromArray(logits);
        IntArray step = new IntArray((int) Step.headSize(rows));
        step.set(Step.ROWS, wanted.length);
        for (int row = 0; row < wanted.length; row++) {
            step.set(Step.candidates(row), wanted[row]);
        }
        FloatArray largest = KernelArrays.nan(rows * LikeliestKernels.parts(count));
        IntArray indices = new IntArray(rows * LikeliestKernels.parts(count));
        FloatArray likeliest = KernelArrays.nan((int) LikeliestKernels.size(rows));
        LikeliestKernels.ofParts(x, step, largest, indices, rows, count);
        WorkGroups.run(
                rows,
                LikeliestKernels.GROUP,
                context -> LikeliestKernels.ofAll(context, x, step, largest, indices, likeliest, count));
        return likeliest;
    }
}
