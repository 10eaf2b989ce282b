package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.tornadotransformers.models.InvalidRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SamplingOptionsTest {
    @ParameterizedTest
    @ValueSource(doubles = {-1, -0.001, Double.NaN, Double.POSITIVE_INFINITY})
    void temperatureIsZeroOrMore(double value) {
        refused("temperature is " + value + ", expected", value, 0, 1, 0, 1);
    }

    @Test
    void topKIsZeroOrMore() {
        refused("topK is -1, expected", 1, -1, 1, 0, 1);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -0.5, 1.0001, Double.NaN})
    void topPIsAboveZeroAndAtMostOne(double value) {
        refused("topP is " + value + ", expected", 1, 0, value, 0, 1);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1.1, Double.NaN})
    void minPIsFromZeroToOne(double value) {
        refused("minP is " + value + ", expected", 1, 0, 1, value, 1);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
    void repetitionPenaltyIsAboveZero(double value) {
        refused("repetitionPenalty is " + value + ", expected", 1, 0, 1, 0, value);
    }

    @Test
    void theLimitsThemselvesAreAllowed() {
        assertThat(new SamplingOptions(0, 0, 1, 1, 1e-3, -1, false).deterministic())
                .isTrue();
        assertThat(new SamplingOptions(1e-9, Integer.MAX_VALUE, 1e-9, 0, 1e3, 0, false).deterministic())
                .isFalse();
    }

    private static void refused(String words, double temperature, int topK, double topP, double minP, double penalty) {
        assertThat(assertThrows(
                        InvalidRequest.class,
                        () -> new SamplingOptions(temperature, topK, topP, minP, penalty, 1, false)))
                .hasMessageStartingWith(words);
    }
}
