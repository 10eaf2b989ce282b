package io.github.tornadotransformers.models.batching;

/** The keys and values of one sequence, in the memory of the {@link Engine} that opened it. */
public interface KvCache extends AutoCloseable {
    /** At most how many positions it holds. */
    int positions();

    /** How many positions have been run: the next span may begin at any of them, or behind the last. */
    int length();

    /**
     * Takes the memory that {@code positions} need, unless the cache has it already.
     *
     * @return whether it has it now; where there was too little, nothing was taken
     */
    boolean reserve(int positions);

    /**
     * Takes over, without running them, the keys and values of as many of these tokens as the engine has kept for other sequences
     * that began with them; for a cache that holds nothing yet.
     *
     * @return how many positions it holds then; fewer than there are tokens
     */
    int reuse(int[] tokens);

    /**
     * Has the engine keep what is here for sequences that begin in the same way, as long as it has the memory, even after this is
     * closed.
     *
     * @param tokens those of the first positions, which are not overwritten by others from now on
     */
    void share(int[] tokens);

    /** Gives the memory back. */
    @Override
    void close();
}
