package io.github.tornadotransformers.models.generation;

import java.util.Optional;

/**
 * How many tokens of one text are guessed: more while guesses are right, none for a while where they are wrong, as each costs a
 * row of the model. It has no say in what is generated.
 */
final class Speculation {
    private static final int[] NO_GUESS = {};

    /** One less than the rows that an engine runs well together. */
    private static final int[] LIMITS = {1, 3, 7, 15};

    private static final int FIRST_LIMIT = 1;
    private static final int LONGEST_PAUSE = 64;

    private final Optional<Guesser> guesser;
    private int limit = FIRST_LIMIT;
    private int misses;
    private int pause;
    private int made;
    private int right;

    Speculation(Optional<Guesser> guesser) {
        this.guesser = guesser;
    }

    /** @param most 0 or more */
    int[] guess(int[] ids, int length, int chosen, int most) {
        if (guesser.isEmpty() || most == 0) {
            return NO_GUESS;
        }
        if (pause > 0) {
            pause--;
            return NO_GUESS;
        }
        return guesser.get().guess(ids, length, chosen, Math.min(most, LIMITS[limit]));
    }

    /** What has come of the last guesses. */
    void told(int guesses, int rightOnes) {
        if (guesses == 0) {
            return;
        }
        made += guesses;
        right += rightOnes;
        if (rightOnes == 0) {
            misses++;
            limit = 0;
            pause = Math.min(1 << Math.min(misses, Integer.SIZE - 2), LONGEST_PAUSE) - 1;
        } else {
            misses = 0;
            limit = rightOnes < guesses ? fitting(rightOnes) : Math.min(limit + 1, LIMITS.length - 1);
        }
    }

    /** The smallest limit that would have allowed so many. */
    private static int fitting(int guesses) {
        int fitting = 0;
        while (LIMITS[fitting] < guesses) {
            fitting++;
        }
        return fitting;
    }

    void close() {
        guesser.ifPresent(Guesser::close);
    }

    Guesses guesses() {
        return new Guesses(made, right);
    }
}
