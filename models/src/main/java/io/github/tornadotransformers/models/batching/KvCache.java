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

    /** Gives the memory back. */
    @Override
    void close();
}
