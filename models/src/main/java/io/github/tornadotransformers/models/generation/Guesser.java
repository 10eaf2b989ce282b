package io.github.tornadotransformers.models.generation;

/** Guesses how one text goes on, for less than it costs to run the model. */
@FunctionalInterface
public interface Guesser extends AutoCloseable {
    /**
     * @param ids the text is {@code ids[0 .. length)}; from call to call it only grows
     * @param chosen how many of these were chosen, the others being the prompt
     * @param most guesses that are of use, 1 or more
     * @return what may follow, at most {@code most} ids, perhaps none
     */
    int[] guess(int[] ids, int length, int chosen, int most);

    /** Asks another where this one has no guess. */
    default Guesser or(Guesser other) {
        Guesser first = this;
        return new Guesser() {
            @Override
            public int[] guess(int[] ids, int length, int chosen, int most) {
                int[] guesses = first.guess(ids, length, chosen, most);
                return guesses.length > 0 ? guesses : other.guess(ids, length, chosen, most);
            }

            @Override
            public void close() {
                first.close();
                other.close();
            }
        };
    }

    /** Called when the text has ended. */
    @Override
    default void close() {}
}
