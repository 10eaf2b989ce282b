package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Scaling;
import java.util.Set;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** {@link ExactMath} on all lanes at once, with the same bits, and loops over ranges of arrays built of it. */
final class VectorMath {
    private static final int WIDEST = 512;

    /** The machine's vectors, up to what half a panel of weights is wide. */
    static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED.vectorBitSize() > WIDEST
            ? FloatVector.SPECIES_512
            : FloatVector.SPECIES_PREFERRED;

    static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);
    static final int LANES = FLOATS.length();

    private static final Set<String> X86 = Set.of("amd64", "x86_64");

    /** Registers for vectors: x86 has 16 without AVX-512; all others have 32. */
    static final int REGISTERS =
            FLOATS.vectorBitSize() < WIDEST && X86.contains(System.getProperty("os.arch")) ? 16 : 32;

    /** The bits of {@link ExactMath#ROUNDING}: adding an integer n to it as floats adds n to its bits. */
    private static final int ROUNDING_BITS = Float.floatToRawIntBits(ExactMath.ROUNDING);

    private static final int EXPONENT_BIAS = 127;
    private static final int MANTISSA_BITS = 23;

    private VectorMath() {}

    static FloatVector exp(FloatVector x) {
        FloatVector shifted = x.fma(ExactMath.LOG2_E, ExactMath.ROUNDING);
        FloatVector n = shifted.sub(ExactMath.ROUNDING);
        FloatVector r = fma(n, -ExactMath.LN2_LOW, fma(n, -ExactMath.LN2_HIGH, x));
        FloatVector p = r.fma(ExactMath.P0, ExactMath.P1);
        p = fma(p, r, ExactMath.P2);
        p = fma(p, r, ExactMath.P3);
        p = fma(p, r, ExactMath.P4);
        p = fma(p, r, ExactMath.P5);
        FloatVector polynomial = p.fma(r.mul(r), r).add(1f);
        IntVector exponent = shifted.reinterpretAsInts().sub(ROUNDING_BITS);
        IntVector half = exponent.lanewise(VectorOperators.ASHR, 1);
        FloatVector result = polynomial.mul(powerOfTwo(half)).mul(powerOfTwo(exponent.sub(half)));
        VectorMask<Float> underflows = x.lt(ExactMath.EXP_UNDERFLOW);
        VectorMask<Float> overflows = x.compare(VectorOperators.GT, ExactMath.EXP_OVERFLOW);
        return result.blend(0f, underflows).blend(Float.POSITIVE_INFINITY, overflows);
    }

    private static FloatVector powerOfTwo(IntVector n) {
        return n.add(EXPONENT_BIAS)
                .lanewise(VectorOperators.LSHL, MANTISSA_BITS)
                .reinterpretAsFloats();
    }

    private static FloatVector fma(FloatVector a, float b, FloatVector c) {
        return a.fma(FloatVector.broadcast(FLOATS, b), c);
    }

    private static FloatVector fma(FloatVector a, FloatVector b, float c) {
        return a.fma(b, FloatVector.broadcast(FLOATS, c));
    }

    /** {@link ExactMath#product}. */
    private static FloatVector product(FloatVector a, float b) {
        return a.fma(b, 0f);
    }

    private static FloatVector product(FloatVector a, FloatVector b) {
        return fma(a, b, 0f);
    }

    private static FloatVector geluArgument(FloatVector x, FloatVector square) {
        return fma(square.mul(x), ExactMath.GELU_CUBIC, x).mul(ExactMath.GELU_SCALE);
    }

    static FloatVector silu(FloatVector x) {
        return x.div(exp(product(x, -1f)).add(1f));
    }

    static FloatVector geluTanh(FloatVector x) {
        return x.div(exp(product(geluArgument(x, x.mul(x)), -2f)).add(1f));
    }

    static FloatVector geluErf(FloatVector x) {
        return product(x.mul(0.5f), erf(product(x, ExactMath.ROOT_OF_HALF)).add(1f));
    }

    static FloatVector tanh(FloatVector x) {
        FloatVector square = x.mul(x);
        FloatVector p = square.fma(ExactMath.T0, ExactMath.T1);
        p = fma(p, square, ExactMath.T2);
        p = fma(p, square, ExactMath.T3);
        p = fma(p, square, ExactMath.T4);
        FloatVector small = p.fma(square.mul(x), x);
        FloatVector size = x.abs();
        FloatVector two = FloatVector.broadcast(FLOATS, 2f);
        FloatVector large = FloatVector.broadcast(FLOATS, 1f)
                .sub(two.div(exp(size.add(size)).add(1f)));
        return withSignOf(x, large).blend(small, size.lt(ExactMath.TANH_SMALL));
    }

    static FloatVector erf(FloatVector x) {
        FloatVector size = x.abs();
        FloatVector square = x.mul(x);
        FloatVector p = square.fma(ExactMath.E0, ExactMath.E1);
        p = fma(p, square, ExactMath.E2);
        p = fma(p, square, ExactMath.E3);
        p = fma(p, square, ExactMath.E4);
        p = fma(p, square, ExactMath.E5);
        FloatVector small = p.fma(x, x);
        FloatVector q = size.fma(ExactMath.F0, ExactMath.F1);
        q = fma(q, size, ExactMath.F2);
        q = fma(q, size, ExactMath.F3);
        q = fma(q, size, ExactMath.F4);
        q = fma(q, size, ExactMath.F5);
        q = fma(q, size, ExactMath.F6);
        FloatVector large = FloatVector.broadcast(FLOATS, 1f).sub(exp(product(product(q, -1f), size)));
        FloatVector result = withSignOf(x, large).blend(small, size.lt(ExactMath.ERF_SMALL));
        FloatVector one = withSignOf(x, FloatVector.broadcast(FLOATS, 1f));
        return result.blend(one, size.compare(VectorOperators.GT, ExactMath.ERF_ONE));
    }

    /** @param magnitude not negative */
    private static FloatVector withSignOf(FloatVector x, FloatVector magnitude) {
        IntVector sign = x.reinterpretAsInts().and(Integer.MIN_VALUE);
        return magnitude.reinterpretAsInts().or(sign).reinterpretAsFloats();
    }

    /** {@code x[i] = silu(x[i])}. */
    static void silu(float[] x, int offset, int count) {
        int i = offset;
        for (; i <= offset + count - LANES; i += LANES) {
            silu(FloatVector.fromArray(FLOATS, x, i)).intoArray(x, i);
        }
        for (; i < offset + count; i++) {
            x[i] = ExactMath.silu(x[i]);
        }
    }

    /** {@code x[i] = geluTanh(x[i])}. */
    static void geluTanh(float[] x, int offset, int count) {
        int i = offset;
        for (; i <= offset + count - LANES; i += LANES) {
            geluTanh(FloatVector.fromArray(FLOATS, x, i)).intoArray(x, i);
        }
        for (; i < offset + count; i++) {
            x[i] = ExactMath.geluTanh(x[i]);
        }
    }

    /** {@code x[i] = geluErf(x[i])}. */
    static void geluErf(float[] x, int offset, int count) {
        int i = offset;
        for (; i <= offset + count - LANES; i += LANES) {
            geluErf(FloatVector.fromArray(FLOATS, x, i)).intoArray(x, i);
        }
        for (; i < offset + count; i++) {
            x[i] = ExactMath.geluErf(x[i]);
        }
    }

    /** {@code to[i] = scaling(from[i])}; they may be the same. */
    static void scale(Scaling scaling, float[] from, int fromOffset, float[] to, int toOffset, int count) {
        float factor = scaling.factor();
        if (scaling.isCapped()) {
            cap(scaling, from, fromOffset, to, toOffset, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            to[toOffset + i] = from[fromOffset + i] * factor;
        }
    }

    private static void cap(Scaling scaling, float[] from, int fromOffset, float[] to, int toOffset, int count) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            FloatVector y = FloatVector.fromArray(FLOATS, from, fromOffset + i).mul(scaling.factor());
            tanh(product(y, scaling.inverseCap())).mul(scaling.cap()).intoArray(to, toOffset + i);
        }
        for (; i < count; i++) {
            to[toOffset + i] = ScalarOps.scaled(scaling, from[fromOffset + i]);
        }
    }

    private static FloatVector sigmoid(FloatVector x) {
        return FloatVector.broadcast(FLOATS, 1f).div(exp(product(x, -1f)).add(1f));
    }

    static FloatVector siluSlope(FloatVector x) {
        FloatVector s = sigmoid(x);
        FloatVector one = FloatVector.broadcast(FLOATS, 1f);
        return product(s, x.fma(one.sub(s), one));
    }

    static FloatVector geluTanhSlope(FloatVector x) {
        FloatVector square = x.mul(x);
        FloatVector s = sigmoid(product(geluArgument(x, square), 2f));
        FloatVector slope = square.fma(ExactMath.GELU_CUBIC_SLOPE, 1f).mul(ExactMath.GELU_SCALE);
        FloatVector bell = s.mul(FloatVector.broadcast(FLOATS, 1f).sub(s));
        return x.mul(bell).fma(slope.mul(2f), s);
    }

    static float max(float[] x, int offset, int length) {
        int i = 0;
        float max = Float.NEGATIVE_INFINITY;
        if (length >= LANES) {
            FloatVector maxima = FloatVector.broadcast(FLOATS, Float.NEGATIVE_INFINITY);
            for (; i <= length - LANES; i += LANES) {
                maxima = maxima.max(FloatVector.fromArray(FLOATS, x, offset + i));
            }
            max = maxima.reduceLanes(VectorOperators.MAX);
        }
        for (; i < length; i++) {
            max = Math.max(max, x[offset + i]);
        }
        return max;
    }

    /** {@code x[i] = exp(x[i] - max)}. */
    static void expOfDifference(float[] x, int offset, int length, float max) {
        int i = 0;
        for (; i <= length - LANES; i += LANES) {
            exp(FloatVector.fromArray(FLOATS, x, offset + i).sub(max)).intoArray(x, offset + i);
        }
        for (; i < length; i++) {
            x[offset + i] = ExactMath.exp(x[offset + i] - max);
        }
    }

    /** {@code x[i] /= divisor}. */
    static void divide(float[] x, int offset, int length, float divisor) {
        int i = 0;
        for (; i <= length - LANES; i += LANES) {
            FloatVector.fromArray(FLOATS, x, offset + i).div(divisor).intoArray(x, offset + i);
        }
        for (; i < length; i++) {
            x[offset + i] /= divisor;
        }
    }

    /** {@code to[i] += from[i]}. */
    static void add(float[] to, int toOffset, float[] from, int fromOffset, int length) {
        int i = 0;
        for (; i <= length - LANES; i += LANES) {
            FloatVector.fromArray(FLOATS, to, toOffset + i)
                    .add(FloatVector.fromArray(FLOATS, from, fromOffset + i))
                    .intoArray(to, toOffset + i);
        }
        for (; i < length; i++) {
            to[toOffset + i] += from[fromOffset + i];
        }
    }

    /** {@code to[i] += scale * from[i]}. */
    static void addScaled(float[] to, int toOffset, float scale, float[] from, int fromOffset, int length) {
        int i = 0;
        for (; i <= length - LANES; i += LANES) {
            FloatVector sum = FloatVector.fromArray(FLOATS, to, toOffset + i);
            fma(FloatVector.fromArray(FLOATS, from, fromOffset + i), scale, sum).intoArray(to, toOffset + i);
        }
        for (; i < length; i++) {
            to[toOffset + i] = Math.fma(scale, from[fromOffset + i], to[toOffset + i]);
        }
    }

    /** {@code to[i] *= by[i]}. */
    static void multiply(float[] to, int toOffset, float[] by, int byOffset, int length) {
        for (int i = 0; i < length; i++) {
            to[toOffset + i] *= by[byOffset + i];
        }
    }

    /** {@code to[i] += x[i] * y[i]}. */
    static void addProduct(float[] to, int toOffset, float[] x, int xOffset, float[] y, int yOffset, int length) {
        int i = 0;
        for (; i <= length - LANES; i += LANES) {
            FloatVector.fromArray(FLOATS, x, xOffset + i)
                    .fma(FloatVector.fromArray(FLOATS, y, yOffset + i), FloatVector.fromArray(FLOATS, to, toOffset + i))
                    .intoArray(to, toOffset + i);
        }
        for (; i < length; i++) {
            to[toOffset + i] = Math.fma(x[xOffset + i], y[yOffset + i], to[toOffset + i]);
        }
    }
}
