package io.github.tornadotransformers.models.rope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.models.program.RotaryTable;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Frequencies of 16 elements at theta 10000 against what transformers 5.18 computes ({@code ROPE_INIT_FUNCTIONS}), in float32. */
class RopeScalingTest {
    private static final double RELATIVE = 1e-6;

    private static void assertFrequencies(RopeScaling scaling, int contextLength, double... expected) {
        double[] found = scaling.frequencies(10_000, 16, contextLength);
        assertThat(found).hasSameSizeAs(expected);
        for (int pair = 0; pair < expected.length; pair++) {
            assertThat(found[pair]).as("pair " + pair).isCloseTo(expected[pair], within(RELATIVE * expected[pair]));
        }
    }

    @Test
    void linearDividesAll() {
        assertFrequencies(
                new RopeScaling.Linear(4),
                128,
                0.25,
                0.07905694097280502,
                0.02500000037252903,
                0.007905694656074047,
                0.0024999999441206455,
                0.0007905694656074047,
                0.0002500000118743628,
                7.905694656074047e-05);
    }

    @Test
    void llama3DividesWhatTurnsSlowly() {
        assertFrequencies(
                new RopeScaling.Llama3(8, 1, 4, 256),
                2048,
                1.0,
                0.3162277638912201,
                0.10000000149011612,
                0.006613106932491064,
                0.0012499999720603228,
                0.00039528473280370235,
                0.0001250000059371814,
                3.9528473280370235e-05);
        assertFrequencies(
                new RopeScaling.Llama3(8, 2, 16, 4096),
                2048,
                1.0,
                0.3162277638912201,
                0.10000000149011612,
                0.03162277862429619,
                0.004074366297572851,
                0.00040743668796494603,
                0.0001250000059371814,
                3.9528473280370235e-05);
    }

    @Test
    void yarnGoesOverFromKeptToDivided() {
        assertFrequencies(
                new RopeScaling.Yarn(4, 32, 1, 512, true, 1),
                2048,
                1.0,
                0.2569350600242615,
                0.0625,
                0.013834965415298939,
                0.0024999999441206455,
                0.0007905694656074047,
                0.0002500000118743628,
                7.905694656074047e-05);
        assertFrequencies(
                new RopeScaling.Yarn(4, 20, 2, 512, false, 1),
                2048,
                1.0,
                0.3162277638912201,
                0.0707545056939125,
                0.010515999048948288,
                0.0024999999441206455,
                0.0007905694656074047,
                0.0002500000118743628,
                7.905694656074047e-05);
    }

    /** From before the first pair to behind the last, and from a pair to itself. */
    @Test
    void yarnsRampEndsAtTheHeadAndMayHaveNoLength() {
        assertFrequencies(
                new RopeScaling.Yarn(4, 1000, 1e-6, 512, true, 1),
                2048,
                1.0,
                0.30041638016700745,
                0.08999999612569809,
                0.026879360899329185,
                0.007999999448657036,
                0.002371708396822214,
                0.0007000000332482159,
                0.00020554804359562695);
        assertFrequencies(
                new RopeScaling.Yarn(4, 8, 8, 512, false, 1),
                2048,
                1.0,
                0.3162277638912201,
                0.10000000149011612,
                0.007905694656074047,
                0.0024999999441206455,
                0.0007905694656074047,
                0.0002500000118743628,
                7.905694656074047e-05);
    }

    @Test
    void longRopeHasAListForEachLengthAndTheContextDecides() {
        RopeScaling.LongRope scaling = new RopeScaling.LongRope(
                List.of(1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7),
                List.of(2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5),
                512,
                1);
        assertFrequencies(
                scaling,
                512,
                1.0,
                0.2874797582626343,
                0.0833333358168602,
                0.024325214326381683,
                0.0071428571827709675,
                0.0021081853192299604,
                0.0006249999860301614,
                0.0001860163320088759);
        assertFrequencies(
                scaling,
                513,
                0.5,
                0.12649111449718475,
                0.03333333507180214,
                0.009035078808665276,
                0.0024999999441206455,
                0.0007027284009382129,
                0.00019999999494757503,
                5.749595584347844e-05);
    }

    @Test
    void recommendedMagnitudesAreThoseOfThePapers() {
        assertThat(RopeScaling.Yarn.recommendedMagnitude(4, 1)).isCloseTo(1.138629436111989, within(1e-12));
        assertThat(RopeScaling.Yarn.recommendedMagnitude(4, 0.7) / RopeScaling.Yarn.recommendedMagnitude(4, 0.3))
                .isCloseTo(1.0532376815143234, within(1e-12));
        assertThat(RopeScaling.Yarn.recommendedMagnitude(0.5, 1)).isOne();
        assertThat(RopeScaling.LongRope.recommendedMagnitude(4, 512)).isCloseTo(1.1055415967851334, within(1e-12));
        assertThat(new RopeScaling.None().magnitude()).isOne();
        assertThat(new RopeScaling.Linear(2).magnitude()).isOne();
        assertThat(new RopeScaling.Llama3(8, 1, 4, 256).magnitude()).isOne();
        assertThat(RopeScaling.LongRope.recommendedMagnitude(0.5, 512)).isOne();
    }

    @Test
    void aTableHasTheFrequenciesTimesThePositionAndTheMagnitude() {
        Rope rope = new Rope(10_000, 16, new RopeScaling.Yarn(4, 32, 1, 512, true, 1.5));
        RotaryTable table = rope.table(600);
        assertThat(table.positions()).isEqualTo(600);
        assertThat(table.pairs()).isEqualTo(8);
        RotaryTable.Angles angles = table.upTo(8);
        assertThat(angles.cosines()[7 * 8 + 2]).isCloseTo((float) (1.5 * Math.cos(7 * 0.0625)), within(1e-6f));
        assertThat(angles.sines()[7 * 8 + 2]).isCloseTo((float) (1.5 * Math.sin(7 * 0.0625)), within(1e-6f));
    }

    @Test
    void aMiniatureKeepsTheScalingUnlessItsListsDoNotFit() {
        RopeScaling.Linear linear = new RopeScaling.Linear(2);
        assertThat(new Rope(500, 16, linear).withDimensions(8)).isEqualTo(new Rope(500, 8, linear));
        RopeScaling.LongRope lists = new RopeScaling.LongRope(List.of(1.0), List.of(2.0), 512, 1);
        assertThat(new Rope(500, 2, lists).withDimensions(8)).isEqualTo(new Rope(500, 8, new RopeScaling.None()));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "7"})
    void anOddNumberOfElementsIsRefused(int dimensions) {
        assertThatThrownBy(() -> new Rope(10_000, dimensions, new RopeScaling.None()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("of " + dimensions + " elements");
    }
}
