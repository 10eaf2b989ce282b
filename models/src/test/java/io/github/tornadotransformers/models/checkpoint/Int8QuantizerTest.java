package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Int8QuantizerTest {
    @ParameterizedTest
    @CsvSource({"2.5, 2", "3.5, 4", "-2.5, -2", "-3.5, -4", "0.5, 0", "126.5, 126", "127, 127", "-127, -127"})
    void tiesGoToTheEvenNeighbour(float weight, int expected) {
        assertThat(Int8Quantizer.quantize(weight, Int8Quantizer.scale(127))).isEqualTo((byte) expected);
    }

    @Test
    void theLargestMagnitudeBecomes127WhateverItIs() {
        SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < 100_000; i++) {
            float max = (float) random.nextDouble(1e-30, 10);
            assertThat(Int8Quantizer.quantize(max, Int8Quantizer.scale(max))).isEqualTo((byte) 127);
            assertThat(Int8Quantizer.quantize(-max, Int8Quantizer.scale(max))).isEqualTo((byte) -127);
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {0f, -0f, Float.MIN_VALUE, 63 * Float.MIN_VALUE})
    void aBlockWhoseScaleIsZeroIsZero(float max) {
        assertThat(Int8Quantizer.scale(max)).isZero();
        assertThat(Int8Quantizer.quantize(max, Int8Quantizer.scale(max))).isZero();
    }

    @Test
    void aSubnormalScaleDoesNotOverflowAByte() {
        float max = 190 * Float.MIN_VALUE;
        assertThat(Int8Quantizer.scale(max)).isEqualTo(Float.MIN_VALUE);
        assertThat(Int8Quantizer.quantize(max, Int8Quantizer.scale(max))).isEqualTo((byte) 127);
        assertThat(Int8Quantizer.quantize(-max, Int8Quantizer.scale(max))).isEqualTo((byte) -127);
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void aBlockThatIsNotFiniteShowsIt(float culprit) {
        float[] tile = new float[Tile.SIDE * Tile.SIDE];
        tile[0] = 1;
        tile[2 * Tile.SIDE] = culprit;
        byte[] quantized = new byte[tile.length];
        float[] scales = new float[Tile.SIDE];

        Int8Quantizer.quantizeBlock(tile, 0, 3, 1, quantized, scales);

        assertThat(quantized[2 * Tile.SIDE] * scales[0]).isNaN();
    }
}
