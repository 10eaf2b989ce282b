package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToleranceTest {
    private static final List<Tolerance> ALL =
            List.of(Tolerance.EXACT, Tolerance.GOLDEN, Tolerance.fast(DType.F32), Tolerance.fast(DType.F16));

    private static final float[] ANY = {
        0f,
        -0f,
        1,
        -1,
        Float.MIN_VALUE,
        Float.MAX_VALUE,
        -Float.MAX_VALUE,
        Float.NaN,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY
    };

    @Test
    void whatIsNotFiniteIsAcceptedFromItsLikeAlone() {
        for (Tolerance tolerance : ALL) {
            for (float actual : ANY) {
                for (float expected : ANY) {
                    if (!Float.isFinite(actual) || !Float.isFinite(expected)) {
                        boolean alike = Float.compare(actual, expected) == 0;
                        String words = tolerance + ": " + actual + " instead of " + expected;
                        assertThat(tolerance.accepts(actual, expected))
                                .as(words)
                                .isEqualTo(alike);
                        assertThat(tolerance.accepts((double) actual, (double) expected))
                                .as(words)
                                .isEqualTo(alike);
                    }
                }
            }
        }
    }

    @Test
    void nansOfOtherBitsAreAlike() {
        float other = Float.intBitsToFloat(0xFFC0_0001);
        assertThat(Tolerance.EXACT.accepts(other, Float.NaN)).isTrue();
        assertThat(Tolerance.GOLDEN.accepts(Float.NaN, other)).isTrue();
    }

    @Test
    void aFloatThatOverflowedIsNotNearALargeDouble() {
        assertThat(Tolerance.GOLDEN.accepts(Float.POSITIVE_INFINITY, 1e39)).isFalse();
        assertThat(Tolerance.GOLDEN.accepts(Float.MAX_VALUE, 1e300)).isFalse();
    }

    @Test
    void exactTellsTheZerosApartAndAToleranceDoesNot() {
        assertThat(Tolerance.EXACT.accepts(-0f, 0f)).isFalse();
        assertThat(Tolerance.EXACT.accepts(0f, -0f)).isFalse();
        assertThat(Tolerance.EXACT.accepts(-0f, -0f)).isTrue();
        assertThat(Tolerance.GOLDEN.accepts(-0f, 0f)).isTrue();
    }

    @Test
    void exactRefusesASingleUlp() {
        assertThat(Tolerance.EXACT.accepts(1f, Math.nextUp(1f))).isFalse();
        assertThat(Tolerance.EXACT.accepts(0f, Float.MIN_VALUE)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "100.9, 100, true",
        "101.2, 100, false",
        "99.1, 100, true",
        "98.8, 100, false",
        "-100.9, -100, true",
        "-101.2, -100, false",
        "0.05, 0, true",
        "0.2, 0, false"
    })
    void theDistanceMayBeTheAbsoluteAndTheRelativePartTogether(double actual, double expected, boolean accepted) {
        assertThat(new Tolerance(false, 0.01, 0.1).accepts(actual, expected)).isEqualTo(accepted);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-1e-9, Double.NaN, Double.POSITIVE_INFINITY})
    void aToleranceThatIsNoneIsRefused(double value) {
        assertThatThrownBy(() -> new Tolerance(false, value, 0)).hasMessageContaining("rtol " + value);
        assertThatThrownBy(() -> new Tolerance(false, 0, value)).hasMessageContaining("atol " + value);
    }

    @Test
    void differencesCountWhatIsAlikeAsEqual() {
        Differences differences = new Differences(Tolerance.EXACT);
        for (float value : ANY) {
            assertThat(differences.compare(value, value)).isTrue();
            assertThat(differences.compare(value, (double) value)).isTrue();
        }
        assertThat(differences.elements()).isEqualTo(2L * ANY.length);
        assertThat(differences.differing()).isZero();
        assertThat(differences.refused()).isZero();
        assertThat(differences.largestUlps()).isZero();
        assertThat(differences.largestAbsolute()).isZero();
    }

    @Test
    void differencesOfOneThatIsNotFiniteAreTheLargest() {
        Differences differences = new Differences(Tolerance.GOLDEN);
        assertThat(differences.compare(Float.NaN, 1f)).isFalse();
        assertThat(differences.compare(1f, Float.POSITIVE_INFINITY)).isFalse();
        assertThat(differences.compare(Float.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY))
                .isFalse();
        assertThat(differences.refused()).isEqualTo(3);
        assertThat(differences.differing()).isEqualTo(3);
        assertThat(differences.largestUlps()).isEqualTo(Long.MAX_VALUE);
        assertThat(differences.largestAbsolute()).isInfinite();
        assertThat(differences.largestRelative()).isInfinite();
    }
}
