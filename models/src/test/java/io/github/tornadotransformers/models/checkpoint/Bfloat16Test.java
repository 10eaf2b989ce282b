package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Bfloat16Test {
    @Test
    void everyValueSurvivesWideningAndNarrowing() {
        for (int bits = Short.MIN_VALUE; bits <= Short.MAX_VALUE; bits++) {
            float widened = Bfloat16.toFloat((short) bits);
            if (!Float.isNaN(widened)) {
                assertThat(Bfloat16.ofFloat(widened)).isEqualTo((short) bits);
            }
        }
    }

    @Test
    void narrowingTakesTheNearestAndOfTwoTheEven() {
        SplittableRandom random = new SplittableRandom(6);
        for (int i = 0; i < 200_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt() & (i % 2 == 0 ? -1 : 0xFFFF_8000));
            if (Math.abs(value) < 3e38f) {
                assertThat(Bfloat16.toFloat(Bfloat16.ofFloat(value)))
                        .as("%a", value)
                        .isEqualTo(NaiveConversion.bfloat16(value));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"Infinity, Infinity", "-Infinity, -Infinity", "3.4028235E38, Infinity", "-3.4028235E38, -Infinity"})
    void whatIsTooLargeBecomesInfinite(float value, float expected) {
        assertThat(Bfloat16.toFloat(Bfloat16.ofFloat(value))).isEqualTo(expected);
    }

    @Test
    void everyNanStaysOne() {
        for (int bits : new int[] {0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF, 0xFF80_0001, 0xFFFF_FFFF}) {
            assertThat(Bfloat16.toFloat(Bfloat16.ofFloat(Float.intBitsToFloat(bits))))
                    .isNaN();
        }
    }
}
