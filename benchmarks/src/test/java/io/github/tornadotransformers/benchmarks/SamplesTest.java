package io.github.tornadotransformers.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SamplesTest {
    @Test
    void statisticsAreThoseOfASample() {
        Samples samples = samples("2 4 4 4 5 5 7 9");

        assertThat(samples.mean()).isEqualTo(5);
        assertThat(samples.min()).isEqualTo(2);
        assertThat(samples.max()).isEqualTo(9);
        assertThat(samples.deviation()).isCloseTo(Math.sqrt(32.0 / 7), within(1e-12));
    }

    @Test
    void oneMeasurementDoesNotDeviate() {
        assertThat(samples("3").deviation()).isZero();
    }

    @Test
    void noMeasurementIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Samples(List.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "10 11 12, 13 14 15, FASTER",
        "10 11 12, 7 8 9, SLOWER",
        "10 11 12, 12 13 14, NOISE",
        "10 11 12, 8 9 11, NOISE",
        "10 11 12, 13 14, TOO_FEW",
        "10 11, 13 14 15, TOO_FEW"
    })
    void aChangeIsMoreThanNoiseWhereNoMeasurementsOverlap(String earlier, String now, Change.Verdict verdict) {
        assertThat(Change.between(samples(earlier), samples(now)).verdict()).isEqualTo(verdict);
    }

    @Test
    void theRatioIsOfTheMeans() {
        assertThat(Change.between(samples("10 20"), samples("30 30")).ratio()).isEqualTo(2);
    }

    private static Samples samples(String values) {
        return new Samples(Arrays.stream(values.split(" ")).map(Double::valueOf).toList());
    }
}
