package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * What a device makes of the arithmetic that kernels are written in, on operands of the caller's choice: whoever knows the
 * right results sees which way it goes wrong.
 *
 * <p>An operation has {@link #CASES} cases; its operands and its result are at {@code operation * CASES + case} of their arrays.
 */
public final class ProbeKernels {
    /** Of each operation. */
    public static final int CASES = 32;

    /** Of a sum, at most. */
    public static final int TERMS = 16;

    /** {@code x}, read and written. */
    public static final int COPY = 0;

    /** {@code x + y}. */
    public static final int SUM = 1;

    /** {@code x - y}. */
    public static final int DIFFERENCE = 2;

    /** {@code x * y}. */
    public static final int PRODUCT = 3;

    /** {@code x * y + z}, fused. */
    public static final int FUSED = 4;

    /** {@code x * y} by itself, then {@code + z}. */
    public static final int PRODUCT_THEN_SUM = 5;

    /** {@code y * z} by itself, and {@code x * y} fused into the sum with it. */
    public static final int TWO_PRODUCTS = 6;

    /** {@code x * y + z}, fused, {@code - z}: the way to round to integers. */
    public static final int THERE_AND_BACK = 7;

    /** {@code -1 * x} by itself. */
    public static final int NEGATED = 8;

    /** {@code -x}. */
    public static final int MINUS = 9;

    /** {@code x > y ? x : y}. */
    public static final int LARGER = 10;

    /** {@code x < y ? z : x}. */
    public static final int REPLACED = 11;

    /** {@code x / y}. */
    public static final int QUOTIENT = 12;

    /** {@code 1 / sqrt(x + y)}. */
    public static final int INVERSE_ROOT = 13;

    /** {@code e^x}. */
    public static final int EXP = 14;

    /** {@code x}, an integer, as int. */
    public static final int TO_INT = 15;

    /** An int as float32; these operations have the same ints as operands. */
    public static final int FROM_INT = 16;

    /** An int {@code / 128}, {@code % 128}, {@code / 48} and {@code % 48}. */
    public static final int BY_POWER = 17;

    public static final int REST_OF_POWER = 18;
    public static final int BY_NUMBER = 19;
    public static final int REST_OF_NUMBER = 20;

    /** Elements of a weight of each format. */
    public static final int INT8 = 21;

    public static final int BF16 = 22;
    public static final int F16 = 23;

    /** {@code t[0] + t[1] + …}, from 0, left to right. */
    public static final int SUM_OF_TERMS = 24;

    /** {@code t[0] * u[0] + t[1] * u[1] + …}, fused, from 0, left to right. */
    public static final int SUM_OF_PRODUCTS = 25;

    public static final int OPERATIONS = 26;

    public static final int POWER = 128;
    public static final int NUMBER = 48;

    private ProbeKernels() {}

    /**
     * Every operation of every case.
     *
     * <p>Shapes: x, y, z, floats, wholes [operations][cases]; ints [2][cases], operands, then how many terms a sum has; words
     * [cases] of int8, then of bf16; patterns [cases] of f16; terms [2][cases][{@link #TERMS}], t, then u.
     *
     * <p>Order: cases parallel.
     *
     * @param floats results that are floats
     * @param wholes results that are ints
     */
    public static void arithmetic(
            FloatArray x,
            FloatArray y,
            FloatArray z,
            IntArray ints,
            IntArray words,
            ShortArray patterns,
            FloatArray bf16Powers,
            FloatArray f16Powers,
            FloatArray terms,
            FloatArray floats,
            IntArray wholes) {
        for (@Parallel int i = 0; i < CASES; i++) {
            floats.set(at(COPY, i), x.get(at(COPY, i)));
            floats.set(at(SUM, i), x.get(at(SUM, i)) + y.get(at(SUM, i)));
            floats.set(at(DIFFERENCE, i), x.get(at(DIFFERENCE, i)) - y.get(at(DIFFERENCE, i)));
            floats.set(at(PRODUCT, i), x.get(at(PRODUCT, i)) * y.get(at(PRODUCT, i)));
            floats.set(at(FUSED, i), Fused.fma(x.get(at(FUSED, i)), y.get(at(FUSED, i)), z.get(at(FUSED, i))));
            float product = Fused.product(x.get(at(PRODUCT_THEN_SUM, i)), y.get(at(PRODUCT_THEN_SUM, i)));
            floats.set(at(PRODUCT_THEN_SUM, i), product + z.get(at(PRODUCT_THEN_SUM, i)));
            float factor = y.get(at(TWO_PRODUCTS, i));
            float term = Fused.product(factor, z.get(at(TWO_PRODUCTS, i)));
            floats.set(at(TWO_PRODUCTS, i), Fused.fma(x.get(at(TWO_PRODUCTS, i)), factor, term));
            float far = z.get(at(THERE_AND_BACK, i));
            float there = Fused.fma(x.get(at(THERE_AND_BACK, i)), y.get(at(THERE_AND_BACK, i)), far);
            floats.set(at(THERE_AND_BACK, i), there - far);
            floats.set(at(NEGATED, i), Fused.negated(x.get(at(NEGATED, i))));
            floats.set(at(MINUS, i), -x.get(at(MINUS, i)));
            float left = x.get(at(LARGER, i));
            float right = y.get(at(LARGER, i));
            floats.set(at(LARGER, i), left > right ? left : right);
            float kept = x.get(at(REPLACED, i));
            floats.set(at(REPLACED, i), kept < y.get(at(REPLACED, i)) ? z.get(at(REPLACED, i)) : kept);
            floats.set(
                    at(QUOTIENT, i),
                    KernelMath.quotient(KernelMath.STRICT, x.get(at(QUOTIENT, i)), y.get(at(QUOTIENT, i))));
            floats.set(
                    at(INVERSE_ROOT, i),
                    KernelMath.inverseRoot(KernelMath.STRICT, x.get(at(INVERSE_ROOT, i)), y.get(at(INVERSE_ROOT, i))));
            floats.set(at(EXP, i), KernelMath.exp(KernelMath.STRICT, x.get(at(EXP, i))));
            wholes.set(at(TO_INT, i), (int) x.get(at(TO_INT, i)));
            int number = ints.get(i);
            floats.set(at(FROM_INT, i), number);
            wholes.set(at(BY_POWER, i), number / POWER);
            wholes.set(at(REST_OF_POWER, i), number % POWER);
            wholes.set(at(BY_NUMBER, i), number / NUMBER);
            wholes.set(at(REST_OF_NUMBER, i), number % NUMBER);
            floats.set(at(INT8, i), WeightFormat.element(WeightFormat.INT8, x, words, bf16Powers, i));
            floats.set(at(BF16, i), WeightFormat.element(WeightFormat.BF16, x, words, bf16Powers, CASES / 2 + i));
            floats.set(at(F16, i), KvFormat.load(WeightFormat.F16, x, patterns, f16Powers, i));
            float sum = 0f;
            float products = 0f;
            for (int k = i * TERMS; k < i * TERMS + ints.get(CASES + i); k++) {
                sum += terms.get(k);
                products = Fused.fma(terms.get(k), terms.get(CASES * TERMS + k), products);
            }
            floats.set(at(SUM_OF_TERMS, i), sum);
            floats.set(at(SUM_OF_PRODUCTS, i), products);
        }
    }

    private static int at(int operation, int item) {
        return operation * CASES + item;
    }
}
