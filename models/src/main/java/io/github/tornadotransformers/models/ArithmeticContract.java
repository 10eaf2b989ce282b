package io.github.tornadotransformers.models;

/** The order and the rounding of all sums and products, by which every engine gives the same bits; ARCHITECTURE.md has its text. */
public final class ArithmeticContract {
    /** Rises with every change that changes bits. */
    public static final int VERSION = 2;

    private ArithmeticContract() {}
}
