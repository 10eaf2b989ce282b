package io.github.tornadotransformers.models.batching;

/** What an engine does with the pages of its memory for keys and values. */
public interface PageMemory {
    /** Nobody holds the page any more: what it has is never read again. */
    void freed(int page);

    /** Makes all that page {@code to} has what page {@code from} has. */
    void copy(int from, int to);
}
