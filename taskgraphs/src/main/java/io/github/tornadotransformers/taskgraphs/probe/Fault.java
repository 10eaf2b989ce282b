package io.github.tornadotransformers.taskgraphs.probe;

/** A way in which a device's arithmetic differs from the contract's; a cause comes before what follows from it. */
public enum Fault {
    SUBNORMALS("flushes subnormals"),
    ROUNDING("does not round to the nearest, ties to even"),
    SIGN_OF_ZERO("loses the sign of zero"),
    NON_FINITE("computes wrongly with infinities or NaN"),
    NOT_FUSED("rounds a product before it is added"),
    ROUNDED_TWICE("rounds a fused product and sum twice"),
    CONTRACTED("fuses a product that is to be rounded by itself"),
    ORDER("adds in another order than the kernel's"),
    CONVERSION("converts between int and float wrongly"),
    INTEGERS("divides ints wrongly"),
    QUOTIENT("divides wrongly"),
    INVERSE_ROOT("takes roots wrongly"),
    INT8("reads int8 wrongly"),
    BF16("reads bf16 wrongly"),
    F16("reads f16 wrongly"),
    EXP("computes e^x wrongly");

    private final String words;

    Fault(String words) {
        this.words = words;
    }

    /** What the device's driver does. */
    @Override
    public String toString() {
        return words;
    }
}
