package io.github.tornadotransformers.host;

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
