package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PromptLookupTest {
    private static int[] guess(int most, int... ids) {
        return new PromptLookup().guess(ids, ids.length, 0, most);
    }

    @Test
    void guessesWhatFollowedTheSameTokens() {
        assertThat(guess(3, 1, 2, 3, 4, 5, 6, 1, 2)).containsExactly(3, 4, 5);
    }

    @Test
    void guessesNoMoreThanTheTextHas() {
        assertThat(guess(9, 1, 2, 3, 1, 2)).containsExactly(3, 1, 2);
        assertThat(guess(9, 7, 7, 7)).containsExactly(7);
    }

    @Test
    void prefersTheLongerMatch() {
        assertThat(guess(1, 9, 1, 2, 3, 8, 1, 2, 4, 9, 1, 2)).containsExactly(3);
    }

    @Test
    void prefersTheLaterOfMatchesOfTheSameLength() {
        assertThat(guess(1, 5, 1, 2, 3, 6, 1, 2, 4, 7, 1, 2)).containsExactly(4);
    }

    @Test
    void oneTokenIsNoMatch() {
        assertThat(guess(9, 1, 2, 3, 4, 2)).isEmpty();
    }

    @Test
    void shortTextsGiveNoGuess() {
        assertThat(guess(9, 1)).isEmpty();
        assertThat(guess(9, 1, 1)).isEmpty();
    }

    @Test
    void looksAtTheTextAlone() {
        int[] longer = {1, 2, 3, 1, 2, 1, 2, 9};
        assertThat(new PromptLookup().guess(longer, 5, 0, 9)).containsExactly(3, 1, 2);
    }
}
