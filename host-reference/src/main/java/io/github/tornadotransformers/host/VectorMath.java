package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Scaling;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** {@link ExactMath} on all lanes at once, with the same bits, and loops over ranges of arrays built of it. */
final class VectorMath {
    static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    static final int LANES = FLOATS.length();

    /** The bits of {@link ExactMath#ROUNDING}: adding an integer n to it as floats adds n to its bits. */
    private static final int ROUNDING_BITS = Float.floatToRawIntBits(ExactMath.ROUNDING);

    private static final int EXPONENT_BIAS = 127;
    private static final int MANTISSA_BITS = 23;

    private VectorMath() {}

    static FloatVector exp(FloatVector x) {
        FloatVector shifted = x.mul(ExactMath.LOG2_E).add(ExactMath.ROUNDING);
        FloatVector n = shifted.sub(ExactMath.ROUNDING);
        FloatVector r = x.sub(n.mul(ExactMath.LN2_HIGH)).sub(n.mul(ExactMath.LN2_LOW));
        FloatVector p = r.mul(ExactMath.P0).add(ExactMath.P1);
        p = p.mul(r).add(ExactMath.P2);
        p = p.mul(r).add(ExactMath.P3);
        p = p.mul(r).add(ExactMath.P4);
        p = p.mul(r).add(ExactMath.P5);
        FloatVector polynomial = p.mul(r.mul(r)).add(r).add(1f);
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

    static FloatVector silu(FloatVector x) {
        return x.div(exp(x.neg()).add(1f));
    }

    static FloatVector geluTanh(FloatVector x) {
        FloatVector cube = x.mul(x).mul(x);
        FloatVector u = x.add(cube.mul(ExactMath.GELU_CUBIC)).mul(ExactMath.GELU_SCALE);
        return x.div(exp(u.mul(-2f)).add(1f));
    }

    static FloatVector geluErf(FloatVector x) {
        return x.mul(0.5f).mul(erf(x.mul(ExactMath.ROOT_OF_HALF)).add(1f));
    }

    static FloatVector tanh(FloatVector x) {
        FloatVector square = x.mul(x);
        FloatVector p = square.mul(ExactMath.T0).add(ExactMath.T1);
        p = p.mul(square).add(ExactMath.T2);
        p = p.mul(square).add(ExactMath.T3);
        p = p.mul(square).add(ExactMath.T4);
        FloatVector small = p.mul(square.mul(x)).add(x);
        FloatVector size = x.abs();
        FloatVector two = FloatVector.broadcast(FLOATS, 2f);
        FloatVector large = FloatVector.broadcast(FLOATS, 1f)
                .sub(two.div(exp(size.add(size)).add(1f)));
        return withSignOf(x, large).blend(small, size.lt(ExactMath.TANH_SMALL));
    }

    static FloatVector erf(FloatVector x) {
        FloatVector size = x.abs();
        FloatVector square = x.mul(x);
        FloatVector p = square.mul(ExactMath.E0).add(ExactMath.E1);
        p = p.mul(square).add(ExactMath.E2);
        p = p.mul(square).add(ExactMath.E3);
        p = p.mul(square).add(ExactMath.E4);
        p = p.mul(square).add(ExactMath.E5);
        FloatVector small = p.mul(x).add(x);
        FloatVector q = size.mul(ExactMath.F0).add(ExactMath.F1);
        q = q.mul(size).add(ExactMath.F2);
        q = q.mul(size).add(ExactMath.F3);
        q = q.mul(size).add(ExactMath.F4);
        q = q.mul(size).add(ExactMath.F5);
        q = q.mul(size).add(ExactMath.F6);
        FloatVector large =
                FloatVector.broadcast(FLOATS, 1f).sub(exp(q.mul(size).neg()));
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
            tanh(y.mul(scaling.inverseCap())).mul(scaling.cap()).intoArray(to, toOffset + i);
        }
        for (; i < count; i++) {
            to[toOffset + i] = ScalarOps.scaled(scaling, from[fromOffset + i]);
        }
    }

    private static FloatVector sigmoid(FloatVector x) {
        return FloatVector.broadcast(FLOATS, 1f).div(exp(x.neg()).add(1f));
    }

    static FloatVector siluSlope(FloatVector x) {
        FloatVector s = sigmoid(x);
        return s.mul(x.mul(FloatVector.broadcast(FLOATS, 1f).sub(s)).add(1f));
    }

    static FloatVector geluTanhSlope(FloatVector x) {
        FloatVector square = x.mul(x);
        FloatVector u = x.add(square.mul(x).mul(ExactMath.GELU_CUBIC)).mul(ExactMath.GELU_SCALE);
        FloatVector s = sigmoid(u.mul(2f));
        FloatVector slope = square.mul(ExactMath.GELU_CUBIC_SLOPE).add(1f).mul(ExactMath.GELU_SCALE);
        FloatVector bell = s.mul(FloatVector.broadcast(FLOATS, 1f).sub(s));
        return s.add(x.mul(bell).mul(slope.mul(2f)));
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
            FloatVector product =
                    FloatVector.fromArray(FLOATS, from, fromOffset + i).mul(scale);
            FloatVector.fromArray(FLOATS, to, toOffset + i).add(product).intoArray(to, toOffset + i);
        }
        for (; i < length; i++) {
            to[toOffset + i] += scale * from[fromOffset + i];
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
            FloatVector product =
                    FloatVector.fromArray(FLOATS, x, xOffset + i).mul(FloatVector.fromArray(FLOATS, y, yOffset + i));
            FloatVector.fromArray(FLOATS, to, toOffset + i).add(product).intoArray(to, toOffset + i);
        }
        for (; i < length; i++) {
            to[toOffset + i] += x[xOffset + i] * y[yOffset + i];
        }
    }
}
