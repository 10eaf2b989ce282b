package io.github.tornadotransformers.kernels;

/** Which positions a row's query sees: the last of those up to its own. */
final class Window {
    private static final int NOT_NEGATIVE = 0x7FFFFFFF;

    private Window() {}

    /**
     * The first position that is seen. The mask changes nothing where it is selected, and keeps the number one that is not
     * negative where it is not.
     *
     * @param length positions up to the row's own
     * @param window how many of them are seen
     */
    static int first(int length, int window) {
        return length > window ? (length - window) & NOT_NEGATIVE : 0;
    }
}
