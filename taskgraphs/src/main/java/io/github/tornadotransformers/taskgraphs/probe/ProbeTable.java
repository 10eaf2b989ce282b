package io.github.tornadotransformers.taskgraphs.probe;

import static io.github.tornadotransformers.kernels.ProbeKernels.CASES;
import static io.github.tornadotransformers.kernels.ProbeKernels.OPERATIONS;
import static io.github.tornadotransformers.kernels.ProbeKernels.TERMS;

import io.github.tornadotransformers.kernels.ProbeKernels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Operands for {@link ProbeKernels#arithmetic}, and what is right: Java's own arithmetic, which is the contract's. There is a
 * method for each operation, which adds a case of it. All is computed before a device is asked: some drivers change how the
 * thread that calls them rounds.
 */
final class ProbeTable {
    /** Elements of operands, and of results. */
    static final int SIZE = OPERATIONS * CASES;

    /** Of int8, then of bf16. */
    static final int WORDS = CASES / Integer.BYTES + CASES / 2;

    /** How far float32 counts. */
    private static final int MAX_COUNT = 1 << 24;

    private final float[] x = new float[SIZE];
    private final float[] y = new float[SIZE];
    private final float[] z = new float[SIZE];
    private final int[] ints = new int[2 * CASES];
    private final byte[] octets = new byte[CASES];
    private final short[] bf16Patterns = new short[CASES];
    private final short[] f16Patterns = new short[CASES];
    private final float[] terms = new float[2 * CASES * TERMS];
    private final int[] used = new int[OPERATIONS];
    private final List<ProbeCase> cases = new ArrayList<>();

    /** Those that were added. */
    List<ProbeCase> cases() {
        return List.copyOf(cases);
    }

    /** First operands. */
    MemorySegment x() {
        return MemorySegment.ofArray(x);
    }

    MemorySegment y() {
        return MemorySegment.ofArray(y);
    }

    MemorySegment z() {
        return MemorySegment.ofArray(z);
    }

    /** The operands that are ints, then how many terms each sum has. */
    MemorySegment ints() {
        return MemorySegment.ofArray(ints);
    }

    /** int8, then bf16. */
    MemorySegment words() {
        MemorySegment words = MemorySegment.ofArray(new int[WORDS]);
        words.copyFrom(MemorySegment.ofArray(octets));
        words.asSlice(octets.length).copyFrom(MemorySegment.ofArray(bf16Patterns));
        return words;
    }

    /** f16. */
    MemorySegment patterns() {
        return MemorySegment.ofArray(f16Patterns);
    }

    /** Of sums and first factors, then second factors. */
    MemorySegment terms() {
        return MemorySegment.ofArray(terms);
    }

    private int next(int operation) {
        if (used[operation] == CASES) {
            throw new IllegalStateException("operation " + operation + " has " + CASES + " cases already");
        }
        return used[operation]++;
    }

    private void add(Fault fault, int operation, String expression, float right, float... operands) {
        int slot = operation * CASES + next(operation);
        x[slot] = operands[0];
        y[slot] = operands.length > 1 ? operands[1] : 0f;
        z[slot] = operands.length > 2 ? operands[2] : 0f;
        cases.add(ProbeCase.of(fault, expression, slot, right));
    }

    void copy(Fault fault, float a) {
        add(fault, ProbeKernels.COPY, "a copy of " + a, a, a);
    }

    void sum(Fault fault, float a, float b) {
        add(fault, ProbeKernels.SUM, a + " + " + b, a + b, a, b);
    }

    void difference(Fault fault, float a, float b) {
        add(fault, ProbeKernels.DIFFERENCE, a + " - " + b, a - b, a, b);
    }

    void product(Fault fault, float a, float b) {
        add(fault, ProbeKernels.PRODUCT, a + " * " + b, a * b, a, b);
    }

    void fused(Fault fault, float a, float b, float c) {
        add(fault, ProbeKernels.FUSED, "fma(" + a + ", " + b + ", " + c + ")", Math.fma(a, b, c), a, b, c);
    }

    void productThenSum(Fault fault, float a, float b, float c) {
        float right = Math.fma(a, b, 0f) + c;
        add(fault, ProbeKernels.PRODUCT_THEN_SUM, "fma(" + a + ", " + b + ", 0) + " + c, right, a, b, c);
    }

    void twoProducts(Fault fault, float a, float b, float c) {
        float right = Math.fma(a, b, Math.fma(b, c, 0f));
        String expression = "fma(" + a + ", " + b + ", fma(" + b + ", " + c + ", 0))";
        add(fault, ProbeKernels.TWO_PRODUCTS, expression, right, a, b, c);
    }

    void thereAndBack(Fault fault, float a, float b, float c) {
        String expression = "fma(" + a + ", " + b + ", " + c + ") - " + c;
        add(fault, ProbeKernels.THERE_AND_BACK, expression, Math.fma(a, b, c) - c, a, b, c);
    }

    void negated(Fault fault, float a) {
        add(fault, ProbeKernels.NEGATED, "fma(-1, " + a + ", 0)", Math.fma(-1f, a, 0f), a);
    }

    void minus(Fault fault, float a) {
        add(fault, ProbeKernels.MINUS, "-(" + a + ")", -a, a);
    }

    void larger(Fault fault, float a, float b) {
        add(fault, ProbeKernels.LARGER, a + " > " + b + " ? " + a + " : " + b, a > b ? a : b, a, b);
    }

    void replaced(Fault fault, float a, float b, float c) {
        add(fault, ProbeKernels.REPLACED, a + " < " + b + " ? " + c + " : " + a, a < b ? c : a, a, b, c);
    }

    void quotient(float a, float b) {
        add(Fault.QUOTIENT, ProbeKernels.QUOTIENT, a + " / " + b, a / b, a, b);
    }

    /** Double is near enough to an inverse root to round it. */
    void inverseRoot(float a, float b) {
        float right = (float) (1.0 / Math.sqrt(a + b));
        add(Fault.INVERSE_ROOT, ProbeKernels.INVERSE_ROOT, "1 / sqrt(" + a + " + " + b + ")", right, a, b);
    }

    /** @param right which tests ask the host's engine for */
    void exp(float a, float right) {
        add(Fault.EXP, ProbeKernels.EXP, "exp(" + a + ")", right, a);
    }

    void toInt(float a) {
        int slot = ProbeKernels.TO_INT * CASES + next(ProbeKernels.TO_INT);
        x[slot] = a;
        cases.add(ProbeCase.of(Fault.CONVERSION, "(int) " + a, slot, (int) a));
    }

    /** Its quotients and rests, and as float32 where that counts so far. */
    void integer(int n) {
        int index = next(ProbeKernels.BY_POWER);
        ints[index] = n;
        whole(ProbeKernels.BY_POWER, index, n + " / " + ProbeKernels.POWER, n / ProbeKernels.POWER);
        whole(ProbeKernels.REST_OF_POWER, index, n + " % " + ProbeKernels.POWER, n % ProbeKernels.POWER);
        whole(ProbeKernels.BY_NUMBER, index, n + " / " + ProbeKernels.NUMBER, n / ProbeKernels.NUMBER);
        whole(ProbeKernels.REST_OF_NUMBER, index, n + " % " + ProbeKernels.NUMBER, n % ProbeKernels.NUMBER);
        if (n <= MAX_COUNT) {
            int slot = ProbeKernels.FROM_INT * CASES + index;
            cases.add(ProbeCase.of(Fault.CONVERSION, "(float) " + n, slot, (float) n));
        }
    }

    private void whole(int operation, int index, String expression, int right) {
        cases.add(ProbeCase.of(Fault.INTEGERS, expression, operation * CASES + index, right));
    }

    void int8(int value) {
        int index = next(ProbeKernels.INT8);
        octets[index] = (byte) value;
        weight(Fault.INT8, ProbeKernels.INT8, index, "int8 " + value, value);
    }

    void bf16(int pattern) {
        int index = next(ProbeKernels.BF16);
        bf16Patterns[index] = (short) pattern;
        float value = Float.intBitsToFloat(pattern << Short.SIZE);
        weight(Fault.BF16, ProbeKernels.BF16, index, String.format("bf16 0x%04X", pattern), value);
    }

    void f16(int pattern) {
        int index = next(ProbeKernels.F16);
        f16Patterns[index] = (short) pattern;
        float value = Float.float16ToFloat((short) pattern);
        weight(Fault.F16, ProbeKernels.F16, index, String.format("f16 0x%04X", pattern), value);
    }

    private void weight(Fault fault, int operation, int index, String expression, float right) {
        cases.add(ProbeCase.of(fault, expression, operation * CASES + index, right));
    }

    /** The sum of {@code t}, of {@link ProbeKernels#TERMS} at most, and that of its products with {@code u}. */
    void sums(float[] t, float[] u) {
        int index = next(ProbeKernels.SUM_OF_TERMS);
        ints[CASES + index] = t.length;
        System.arraycopy(t, 0, terms, index * TERMS, t.length);
        System.arraycopy(u, 0, terms, (CASES + index) * TERMS, u.length);
        float sum = 0f;
        float products = 0f;
        for (int k = 0; k < t.length; k++) {
            sum += t[k];
            products = Math.fma(t[k], u[k], products);
        }
        String first = "sum " + index + " of " + t.length;
        weight(Fault.ORDER, ProbeKernels.SUM_OF_TERMS, index, first + " terms", sum);
        weight(Fault.ORDER, ProbeKernels.SUM_OF_PRODUCTS, index, first + " products", products);
    }
}
