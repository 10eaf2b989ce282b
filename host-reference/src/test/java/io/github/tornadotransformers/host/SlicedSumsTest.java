package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.testsupport.RandomData;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Slices lie where {@link ScalarOps#slicedSum} and the contract put them, however far from the row's beginning. */
class SlicedSumsTest {
    private static final int LONGEST = 40_000;

    static LongStream seeds() {
        return LongStream.range(0, 200);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void windowHasTheSlicesOfItsRow(long seed) {
        RandomData data = new RandomData(seed);
        int offset = data.between(0, 300);
        int end = data.coin() ? data.between(1, 1200) : data.between(1, LONGEST);
        int first = Math.max(0, end - (data.coin() ? data.size(389) : data.between(1, end)));
        float[] x = data.floats(offset + end);
        float[] slices = new float[end / HostOps.SLICE + 1];
        for (int i = first; i < end; i++) {
            slices[i / HostOps.SLICE] += x[offset + i];
        }
        float expected = 0f;
        for (float slice : slices) {
            expected += slice;
        }
        assertThat(ScalarOps.slicedSum(first, end, i -> x[offset + i])).isEqualTo(expected);
        assertThat(SlicedSums.sum(x, offset, first, end)).isEqualTo(expected);
    }
}
