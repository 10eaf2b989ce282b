package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class ChecksumKernelsTest {
    private static final int LANES = 16_384;

    /** Low half first: (0 * 31 + low) * 31 + high. */
    @ParameterizedTest
    @CsvSource({"00000000, 0", "00000001, 31", "00010000, 1", "00020003, 95", "ffffffff, 2097120", "80000000, 32768"})
    void aWordIsItsHalves(String word, int sum) {
        int[] sums = words(Integer.parseUnsignedInt(word, 16));

        assertThat(sums[0]).isEqualTo(sum);
        assertThat(sums[1]).isZero();
    }

    @Test
    void aLaneHasEveryElementOfItsOwn() {
        int[] words = new int[2 * LANES + 1];
        words[5] = 1;
        words[LANES + 5] = 2;
        words[2 * LANES] = 3;
        int[] sums = words(words);

        // (1 * 31) * 31 * 31 + 2 * 31, and behind 0 and 0 a 3 * 31.
        assertThat(sums[5]).isEqualTo(29_853);
        assertThat(sums[0]).isEqualTo(93);
        assertThat(sums[1]).isZero();
    }

    /** Signs, exponents and significands as IEEE 754 has them; subnormal numbers count as 0, and NaN as infinite. */
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-0, 0",
        "1, 16256", // 3f80 0000
        "-2.5, 49184", // c020 0000
        "1.1754943508222875e-38, 128", // 0080 0000
        "1.1754942e-38, 0",
        "-1.4e-45, 0",
        "3.4028234663852886e38, 2064224", // 7f7f ffff
        "0.1, 1641119", // 3dcc cccd
        "Infinity, 32640", // 7f80 0000
        "-Infinity, 65408", // ff80 0000
        "NaN, 32640"
    })
    void aFloatIsItsBits(float value, int sum) {
        assertThat(floats(value)[0]).isEqualTo(sum);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void floatsHaveTheSumsOfTheirBits(long seed) {
        Random random = new Random(seed);
        float[] floats = new float[3 * LANES + 17];
        int[] words = new int[floats.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = Float.intBitsToFloat(random.nextInt());
            boolean isSubnormal = Math.abs(floats[i]) < Float.MIN_NORMAL;
            float kept = Float.isNaN(floats[i]) ? Float.POSITIVE_INFINITY : isSubnormal ? 0f : floats[i];
            words[i] = Float.floatToRawIntBits(kept);
        }

        assertThat(floats(floats)).isEqualTo(words(words));
    }

    @Test
    void arraysHaveSumsOfTheirOwn() {
        IntArray sums = new IntArray(4 * LANES);
        IntArray none = new IntArray(1);
        ChecksumKernels.words(IntArray.fromElements(1), none, IntArray.fromElements(2, 3), none, sums, 1, 0, 2, 0);

        assertThat(sums.get(0)).isEqualTo(31);
        assertThat(sums.get(LANES)).isZero();
        assertThat(sums.get(2 * LANES)).isEqualTo(62);
        assertThat(sums.get(2 * LANES + 1)).isEqualTo(93);
        assertThat(sums.get(3 * LANES)).isZero();
    }

    private static int[] words(int... words) {
        IntArray sums = new IntArray(4 * LANES);
        IntArray none = new IntArray(1);
        ChecksumKernels.words(none, none, none, IntArray.fromArray(words), sums, 0, 0, 0, words.length);
        return part(sums, 3);
    }

    private static int[] floats(float... floats) {
        IntArray sums = new IntArray(4 * LANES);
        FloatArray none = new FloatArray(1);
        FloatArray bounds = KvFormat.bounds(WeightFormat.BF16);
        ChecksumKernels.floats(none, FloatArray.fromArray(floats), none, none, bounds, sums, 0, floats.length, 0, 0);
        return part(sums, 1);
    }

    private static int[] part(IntArray sums, int part) {
        int[] found = new int[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            found[lane] = sums.get(part * LANES + lane);
        }
        return found;
    }
}
