package io.github.tornadotransformers.taskgraphs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.kernels.ChecksumKernels;
import io.github.tornadotransformers.kernels.KvFormat;
import io.github.tornadotransformers.kernels.WeightFormat;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The host's checksums are the kernels', which have a test of their own. */
class ChecksumsTest {
    private static final int LANES = ChecksumKernels.LANES;

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1025, 7919, LANES - 1, LANES, LANES + 1, 5 * LANES + 1031})
    void areTheKernels(int count) {
        Random random = new Random(count);
        IntArray words = new IntArray(count);
        FloatArray floats = new FloatArray(count);
        for (int i = 0; i < count; i++) {
            words.set(i, random.nextInt());
            floats.set(i, Float.intBitsToFloat(random.nextInt()));
        }
        IntArray ofWords = new IntArray(4 * LANES);
        IntArray ofFloats = new IntArray(4 * LANES);
        ChecksumKernels.words(words, words, words, words, ofWords, count, 0, 0, 0);
        FloatArray bounds = KvFormat.bounds(WeightFormat.BF16);
        ChecksumKernels.floats(floats, floats, floats, floats, bounds, ofFloats, count, 0, 0, 0);

        assertThat(Checksums.ofWords(words.getSegment())).isEqualTo(first(ofWords));
        assertThat(Checksums.ofFloats(floats.getSegment())).isEqualTo(first(ofFloats));
    }

    private static int[] first(IntArray sums) {
        int[] first = new int[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            first[lane] = sums.get(lane);
        }
        return first;
    }
}
