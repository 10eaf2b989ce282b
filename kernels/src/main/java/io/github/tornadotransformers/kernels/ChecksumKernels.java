package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Checksums of what lies on a device, {@value #LANES} of an array: lane l has the elements l, l + {@value #LANES}, … An element is two numbers of 16
 * bits, the low one first; a sum begins with 0 and becomes (31 sum + number) mod 2^26 with each. As 31 has an inverse, an array of which
 * one element changed has another checksum, whatever changed in it.
 *
 * <p>Four arrays share a kernel, which spares compiling as many: those that there are not have no elements.
 *
 * <p>Shapes: a, b, c, d [a's count] and so on; sums [4][{@value #LANES}].
 *
 * <p>Order: lanes parallel, neighbours contiguous in the arrays; a lane's elements from first to last.
 */
public final class ChecksumKernels {
    /** Checksums of an array. */
    public static final int LANES = 1 << 14;

    /** Arrays of a kernel. */
    public static final int ARRAYS = 4;

    /** By which a sum is multiplied for each number. */
    public static final int FACTOR = 31;

    /** The bits of a sum: {@link #FACTOR} times as much fits an int. */
    public static final int MASK = (1 << 26) - 1;

    private static final int HALF_BITS = 16;
    private static final int HALF = 0xFFFF;

    /** Of a float: exponent fields, as many as {@link KvFormat#bounds} has of bf16, and significands of a binade. */
    private static final int FIELDS = 1 << 8;

    private static final int BINADE = 1 << 23;

    private ChecksumKernels() {}

    /** Of words. */
    public static void words(
            IntArray a,
            IntArray b,
            IntArray c,
            IntArray d,
            IntArray sums,
            int countA,
            int countB,
            int countC,
            int countD) {
        for (@Parallel int lane = 0; lane < LANES; lane++) {
            sums.set(lane, sum(a, lane, countA));
            sums.set(LANES + lane, sum(b, lane, countB));
            sums.set(2 * LANES + lane, sum(c, lane, countC));
            sums.set(3 * LANES + lane, sum(d, lane, countD));
        }
    }

    private static int sum(IntArray words, int lane, int count) {
        int sum = 0;
        for (int k = 0; k < count / LANES + (lane < count % LANES ? 1 : 0); k++) {
            int word = words.get(lane + k * LANES);
            sum = (sum * FACTOR + (word & HALF)) & MASK;
            sum = (sum * FACTOR + ((word >> HALF_BITS) & HALF)) & MASK;
        }
        return sum;
    }

    /**
     * Of floats, by their bits; those that are subnormal count as 0, which a device may make of them in fast mode, and NaN as infinite.
     *
     * @param bounds {@link KvFormat#bounds} of {@link WeightFormat#BF16}, whose exponents are a float's
     */
    public static void floats(
            FloatArray a,
            FloatArray b,
            FloatArray c,
            FloatArray d,
            FloatArray bounds,
            IntArray sums,
            int countA,
            int countB,
            int countC,
            int countD) {
        for (@Parallel int lane = 0; lane < LANES; lane++) {
            sums.set(lane, sum(a, bounds, lane, countA));
            sums.set(LANES + lane, sum(b, bounds, lane, countB));
            sums.set(2 * LANES + lane, sum(c, bounds, lane, countC));
            sums.set(3 * LANES + lane, sum(d, bounds, lane, countD));
        }
    }

    /** A device has no view of a float's bits: {@link KvFormat} says how they are found. */
    private static int sum(FloatArray floats, FloatArray bounds, int lane, int count) {
        int sum = 0;
        for (int k = 0; k < count / LANES + (lane < count % LANES ? 1 : 0); k++) {
            float value = floats.get(lane + k * LANES);
            float magnitude = value < 0f ? -value : value;
            int field = 0;
            int half = FIELDS;
            for (int i = 1; i < FIELDS; i += i) {
                half = half / 2;
                field = magnitude < bounds.get(field + half) ? field : field + half;
            }
            field = Math.min(Math.max(field, 1), FIELDS - 2);
            float scaled = magnitude * bounds.get(FIELDS + field);
            float bounded = scaled < 2f ? scaled : 2f;
            int significand = (int) (bounded * BINADE) & Integer.MAX_VALUE;
            int high = significand / (1 << HALF_BITS) + (field - 1) * (BINADE / (1 << HALF_BITS));
            high = value < 0f ? high + (1 << (HALF_BITS - 1)) : high;
            boolean isNormal = significand >= BINADE;
            sum = (sum * FACTOR + (isNormal ? significand & HALF : 0)) & MASK;
            sum = (sum * FACTOR + (isNormal ? high : 0)) & MASK;
        }
        return sum;
    }
}
