package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Both ways of selecting rank alike: by value, zeros of both signs alike, and by id among equals. */
class RankedLogitsTest {
    private static final float[] LOGITS = {
        0f, -0f, -0f, 0f, 1f, -1f, Float.MIN_VALUE, -Float.MIN_VALUE, 1f, Float.MAX_VALUE, -Float.MAX_VALUE
    };
    private static final int[] RANKED = {9, 4, 8, 6, 0, 1, 2, 3, 7, 5, 10};

    private final RankedLogits ranked = new RankedLogits(LOGITS.length);

    @Test
    void aSelectionOfSomeRanksThem() {
        for (int count = 1; count <= LOGITS.length; count++) {
            ranked.select(LOGITS, count);
            assertThat(ids(count)).containsExactly(Arrays.copyOf(RANKED, count));
        }
    }

    @Test
    void aSelectionByWeightRanksAllOfThatWeightOrMore() {
        double[] weights = Arrays.stream(RANKED).mapToDouble(_ -> 1).toArray();
        assertThat(ranked.selectByWeight(LOGITS, weights, 1)).isEqualTo(LOGITS.length);
        assertThat(ids(LOGITS.length)).containsExactly(RANKED);
        weights[8] = 0.5;
        assertThat(ranked.selectByWeight(LOGITS, weights, 0.75)).isEqualTo(LOGITS.length - 1);
        assertThat(ids(3)).containsExactly(9, 4, 6);
    }

    private int[] ids(int count) {
        return IntStream.range(0, count).map(ranked::id).toArray();
    }
}
