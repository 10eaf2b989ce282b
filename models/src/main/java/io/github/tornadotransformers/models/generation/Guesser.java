package io.github.tornadotransformers.models.generation;

/** Guesses how a text goes on, for less than it costs to run the model. */
@FunctionalInterface
public interface Guesser {
    /**
     * @param ids the text is {@code ids[0 .. length)}; from call to call it only grows
     * @param most guesses that are of use, 1 or more
     * @return what may follow, at most {@code most} ids, perhaps none
     */
    int[] guess(int[] ids, int length, int most);
}
