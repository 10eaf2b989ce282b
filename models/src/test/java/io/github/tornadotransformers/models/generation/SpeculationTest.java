package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SpeculationTest {
    private final Speculation speculation = new Speculation(Optional.of((_, _, _, most) -> new int[most]));

    private int guess(int most) {
        return speculation.guess(new int[9], 9, 0, most).length;
    }

    private int guessed(int right) {
        int guesses = guess(Integer.MAX_VALUE);
        speculation.told(guesses, right);
        return guesses;
    }

    @Test
    void guessesMoreWhileAllAreRight() {
        assertThat(new int[] {guessed(3), guessed(7), guessed(15), guessed(15)}).containsExactly(3, 7, 15, 15);
        assertThat(speculation.guesses()).isEqualTo(new Guesses(40, 40));
    }

    @Test
    void guessesAsManyAsWereRight() {
        guessed(3);
        assertThat(guessed(2)).isEqualTo(7);
        assertThat(guessed(1)).isEqualTo(3);
        assertThat(guessed(1)).isEqualTo(1);
        assertThat(guessed(1)).isEqualTo(3);
    }

    /** So that a text that does not repeat itself costs little: less than one row more in thirty. */
    @Test
    void pausesLongerAndLongerWhereNoneIsRight() {
        int guesses = 0;
        for (int token = 0; token < 1000; token++) {
            guesses += guessed(0);
        }
        assertThat(guesses).isBetween(10, 33);
    }

    @Test
    void neverGuessesMoreThanIsOfUse() {
        assertThat(guess(2)).isEqualTo(2);
        assertThat(guess(0)).isZero();
    }

    @Test
    void withoutAGuesserNothingIsGuessed() {
        assertThat(new Speculation(Optional.empty()).guess(new int[9], 9, 0, 5)).isEmpty();
    }

    @Test
    void whatIsNotGuessedTeachesNothing() {
        speculation.told(0, 0);
        assertThat(guess(Integer.MAX_VALUE)).isEqualTo(3);
        assertThat(Arrays.asList(speculation.guesses())).containsExactly(Guesses.NONE);
    }
}
