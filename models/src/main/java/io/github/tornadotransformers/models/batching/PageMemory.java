package io.github.tornadotransformers.models.batching;

import java.lang.foreign.MemorySegment;

/** What an engine does with the pages of its memory for keys and values. */
public interface PageMemory {
    /** Nobody holds the page any more: what it has is never read again. */
    void freed(int page);

    /** Makes all that page {@code to} has what page {@code from} has. */
    void copy(int from, int to);

    /** Bytes of a page as {@link #save} gives them; 0 where it cannot. */
    default long pageBytes() {
        return 0;
    }

    /** Copies all that a page has. */
    default void save(int page, MemorySegment to) {
        throw new UnsupportedOperationException();
    }

    /** Makes what {@link #save} gave a page's. */
    default void load(int page, MemorySegment from) {
        throw new UnsupportedOperationException();
    }
}
