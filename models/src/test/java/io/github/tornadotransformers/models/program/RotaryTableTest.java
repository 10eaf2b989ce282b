package io.github.tornadotransformers.models.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RotaryTableTest {
    private static final double[] FREQUENCIES = {1, 0.1, 1e-5};

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 127, 128, 129, 1000, 6000})
    void everyRowIsThatOfItsPositionHoweverItWasAskedFor(int end) {
        RotaryTable table = RotaryTable.of(FREQUENCIES, 1, 6000);
        for (int asked : new int[] {1, 3, 100, end / 2, end}) {
            RotaryTable.Angles angles = table.upTo(asked);
            assertThat(angles.positions()).isGreaterThanOrEqualTo(asked);
            assertEquals(angles.positions() * 3, angles.cosines().length);
            for (int position = 0; position < asked; position++) {
                for (int pair = 0; pair < 3; pair++) {
                    double angle = position * FREQUENCIES[pair];
                    assertEquals((float) Math.cos(angle), angles.cosines()[position * 3 + pair]);
                    assertEquals((float) Math.sin(angle), angles.sines()[position * 3 + pair]);
                }
            }
        }
    }

    @Test
    void threadsMayAskAtTheSameTime() {
        RotaryTable table = RotaryTable.of(FREQUENCIES, 1, 40_000);
        assertThat(IntStream.rangeClosed(1, 40_000).parallel().allMatch(end -> {
                    RotaryTable.Angles angles = table.upTo(end);
                    return angles.sines()[3 * (end - 1)] == (float) Math.sin(end - 1);
                }))
                .isTrue();
    }

    @Test
    void nothingIsMadeBeforeItIsAskedFor() {
        RotaryTable table = RotaryTable.of(new double[1 << 10], 1, 1 << 20);
        assertEquals(1 << 30, table.size());
        assertThat(table.upTo(3).cosines()).hasSizeLessThan(1 << 20);
    }

    @Test
    void theWholeTableHasNoRowMore() {
        RotaryTable table = RotaryTable.of(FREQUENCIES, 1, 300);
        table.upTo(200);
        assertThat(table.upTo(300).cosines()).hasSize(table.size());
    }

    @Test
    void aPositionBehindTheLastIsRefused() {
        RotaryTable table = RotaryTable.of(FREQUENCIES, 1, 300);
        assertThat(assertThrows(IllegalArgumentException.class, () -> table.upTo(301)))
                .hasMessage("position 300 is not in a table of 300");
    }

    @Test
    void aTableOfMoreEntriesThanAnArrayHoldsIsRefused() {
        assertThrows(ArithmeticException.class, () -> RotaryTable.of(FREQUENCIES, 1, Integer.MAX_VALUE / 2));
    }
}
