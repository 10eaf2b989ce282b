package io.github.tornadotransformers.taskgraphs.probe;

/**
 * The cases of the probe, by the fault that they show: a fault's do not depend on what comes after it, so that the first that is
 * found is the cause.
 */
final class ProbeCases {
    private static final float SMALLEST = Float.MIN_NORMAL;
    private static final float SUBNORMAL = 0x1p-127f;
    private static final float LEAST = Float.MIN_VALUE;
    private static final float LARGEST = Float.MAX_VALUE;
    private static final float INFINITY = Float.POSITIVE_INFINITY;

    /** The distance from 1 to the next number. */
    private static final float ULP = 0x1p-23f;

    private final ProbeTable table = new ProbeTable();

    private ProbeCases() {}

    static ProbeTable table() {
        ProbeCases cases = new ProbeCases();
        cases.subnormals();
        cases.rounding();
        cases.signsOfZero();
        cases.infinitiesAndNan();
        cases.fusedProducts();
        cases.productsByThemselves();
        cases.order();
        cases.integers();
        cases.quotients();
        cases.inverseRoots();
        cases.weights();
        cases.exponentials();
        return cases.table;
    }

    /** Read, as the only subnormal number, and made; exact, so that rounding does not matter. */
    private void subnormals() {
        Fault fault = Fault.SUBNORMALS;
        table.copy(fault, LEAST);
        table.copy(fault, -SUBNORMAL);
        table.sum(fault, SUBNORMAL, SMALLEST);
        table.sum(fault, SMALLEST, -SUBNORMAL);
        table.sum(fault, LEAST, LEAST);
        table.difference(fault, SMALLEST, SUBNORMAL);
        table.difference(fault, 1.5f * SMALLEST, SMALLEST);
        table.product(fault, SUBNORMAL, 0x1p10f);
        table.product(fault, 0x1p100f, -LEAST);
        table.product(fault, 0x1p-70f, 0x1p-60f);
        table.fused(fault, SUBNORMAL, 4f, SMALLEST);
        table.fused(fault, 0x1p-63f, 0x1p-63f, SUBNORMAL);
        table.fused(fault, -1f, SMALLEST, 1.5f * SMALLEST);
        table.fused(fault, 0x1p-70f, 0x1p-60f, 0f);
        table.negated(fault, SUBNORMAL);
        table.minus(fault, SUBNORMAL);
        table.larger(fault, SUBNORMAL, 0f);
        table.replaced(fault, 0f, LEAST, 1f);
    }

    /** To the nearest, to the even one of two, above and below; each other direction is wrong in one of them. */
    private void rounding() {
        Fault fault = Fault.ROUNDING;
        for (float sign : new float[] {1f, -1f}) {
            table.sum(fault, sign, sign * 0.5f * ULP);
            table.sum(fault, sign * (1f + ULP), sign * 0.5f * ULP);
            table.sum(fault, sign, sign * 0.75f * ULP);
            table.sum(fault, sign, sign * 0.25f * ULP);
            table.product(fault, sign * (1f + 0x1p-12f), 1f + 0x1p-12f);
            table.product(fault, sign * (1f + ULP), 1.5f);
            table.product(fault, sign * (1f + ULP), 1f + ULP);
            table.product(fault, sign * (1f + ULP), 1.75f);
            table.difference(fault, sign, sign * 0.25f * ULP);
            table.fused(fault, sign, 1f, sign * 0.75f * ULP);
            table.fused(fault, sign, 1f, sign * 0.25f * ULP);
        }
    }

    private void signsOfZero() {
        Fault fault = Fault.SIGN_OF_ZERO;
        table.copy(fault, -0f);
        table.minus(fault, 0f);
        table.minus(fault, -0f);
        table.negated(fault, 0f);
        table.sum(fault, -0f, 0f);
        table.sum(fault, -0f, -0f);
        table.sum(fault, 1f, -1f);
        table.difference(fault, 0f, 0f);
        table.difference(fault, 0f, -0f);
        table.difference(fault, -0f, 0f);
        table.product(fault, -1f, 0f);
        table.product(fault, -0f, 5f);
        table.fused(fault, -1f, 0f, 0f);
        table.fused(fault, -1f, 0f, -0f);
        table.productThenSum(fault, -1f, 0f, -0f);
    }

    private void infinitiesAndNan() {
        Fault fault = Fault.NON_FINITE;
        table.copy(fault, -INFINITY);
        table.copy(fault, Float.NaN);
        table.sum(fault, INFINITY, 1f);
        table.sum(fault, INFINITY, -INFINITY);
        table.sum(fault, LARGEST, LARGEST);
        table.sum(fault, Float.NaN, 1f);
        table.difference(fault, INFINITY, INFINITY);
        table.difference(fault, Float.NaN, Float.NaN);
        table.product(fault, 0f, INFINITY);
        table.product(fault, 0f, Float.NaN);
        table.product(fault, -LARGEST, 2f);
        table.fused(fault, INFINITY, 0f, 1f);
        table.fused(fault, INFINITY, 1f, -INFINITY);
        table.fused(fault, 0f, Float.NaN, 1f);
        table.larger(fault, Float.NaN, 1f);
        table.larger(fault, 1f, Float.NaN);
        table.larger(fault, -INFINITY, -LARGEST);
        table.replaced(fault, Float.NaN, 1f, 2f);
        table.replaced(fault, 1f, Float.NaN, 2f);
    }

    /** What cancels leaves the part that a rounded product loses; double, and what is wider, lose the last term of the last. */
    private void fusedProducts() {
        table.fused(Fault.NOT_FUSED, 1f + ULP, 1f + ULP, -(1f + 2f * ULP));
        table.fused(Fault.NOT_FUSED, 1f + 0x1p-12f, 1f + 0x1p-12f, -(1f + 0x1p-11f));
        table.fused(Fault.NOT_FUSED, 0.1f, 10f, -1f);
        table.fused(Fault.NOT_FUSED, -3f, 0x1.555556p-2f, 1f);
        table.fused(Fault.NOT_FUSED, LARGEST, 2f, -LARGEST);
        table.fused(Fault.ROUNDED_TWICE, 1f + 0x1p-12f, 1f + 0x1p-12f, 0x1p-80f);
        table.fused(Fault.ROUNDED_TWICE, -(1f + 0x1p-12f), 1f + 0x1p-12f, -0x1p-80f);
    }

    private void productsByThemselves() {
        table.productThenSum(Fault.CONTRACTED, 1f + ULP, 1f + ULP, -(1f + 2f * ULP));
        table.productThenSum(Fault.CONTRACTED, 1f + 0x1p-12f, 1f + 0x1p-12f, -(1f + 0x1p-11f));
        table.productThenSum(Fault.CONTRACTED, 0.1f, 10f, -1f);
        table.twoProducts(Fault.CONTRACTED, 1.1f, 1.3f, -1.1000001f);
        table.twoProducts(Fault.CONTRACTED, 1f + 0x1p-12f, 1f + 0x1p-12f, -1f);
    }

    /** Left to right; other orders, such as of lanes or of pairs, give other sums. */
    private void order() {
        Fault fault = Fault.ORDER;
        for (float number : new float[] {0.4f, 0.5f, 1.5f, -2.5f, 0.6f, 1000.3f, -87.3f}) {
            table.thereAndBack(fault, number, 1f, 0x1.8p23f);
        }
        table.thereAndBack(fault, 0x1p-30f, 1f, 1f);
        float[] up = new float[16];
        float[] down = new float[up.length];
        float[] factors = new float[up.length];
        for (int k = 0; k < up.length; k++) {
            up[k] = (k % 3 == 1 ? -1f : 1f) * Math.scalb(1f + k * 0.0627f, 3 * k % 11);
            down[k] = (k % 4 == 2 ? -1f : 1f) * Math.scalb(1.9f - k * 0.0313f, -(5 * k % 13));
            factors[k] = 1f / (k + 3);
        }
        table.sums(up, factors);
        table.sums(down, factors);
        table.sums(new float[] {0x1p24f, 1f, -0x1p24f, 1f, 1f}, new float[] {1f, 1f, 1f, 1f, 1f});
    }

    private void integers() {
        for (int n : new int[] {0, 1, 47, 48, 49, 127, 128, 129, 255, 4095, 6143, 1 << 20, (1 << 24) - 1, 1 << 24}) {
            table.integer(n);
        }
        table.integer(1_000_000_007);
        table.integer(Integer.MAX_VALUE - 1);
        table.integer(Integer.MAX_VALUE);
        for (float number : new float[] {0f, 1f, -1f, 126f, 127f, 128f, -125f, -126f, -127f, 0x1p23f}) {
            table.toInt(number);
        }
    }

    /** Of numbers whose significands are hard to divide, and at the ends of what there is; by 0, and of what is infinite. */
    private void quotients() {
        float ones = 2f - ULP;
        table.quotient(1f, 3f);
        table.quotient(2f, 3f);
        table.quotient(-5f, 7f);
        table.quotient(1f, ones);
        table.quotient(1f + ULP, ones);
        table.quotient(ones, 1f + ULP);
        table.quotient(1f, 1f + ULP);
        table.quotient(1f + 2f * ULP, 1f + ULP);
        table.quotient(ones, 1.5f);
        table.quotient(0.7f, 768f);
        table.quotient(355f, -113f);
        table.quotient(1f, 1.7182817f);
        table.quotient(LARGEST, 0.99999994f);
        table.quotient(LARGEST, 3f);
        table.quotient(3f, LARGEST);
        table.quotient(0x1p-100f, 0x1.8p26f);
        table.quotient(SMALLEST, 3f);
        table.quotient(SUBNORMAL, 0.3f);
        table.quotient(3f * LEAST, 2f);
        table.quotient(0.3f, SUBNORMAL);
        table.quotient(0f, -5f);
        table.quotient(-1f, 0f);
        table.quotient(0f, 0f);
        table.quotient(INFINITY, INFINITY);
        table.quotient(7f, -INFINITY);
        table.quotient(Float.NaN, 1f);
    }

    private void inverseRoots() {
        for (float number : new float[] {
            1f, 2f, 3f, 4f, 0.5f, 0.1f, 7f, 10f, 0.3f, 1.0000001f, 1.9999999f, 3.9999998f, 0.99999994f, 1234.567f, 1e-3f
        }) {
            table.inverseRoot(number, 0f);
        }
        table.inverseRoot(0.25f, 1e-5f);
        table.inverseRoot(0x1p24f, 1f);
        table.inverseRoot(0f, 1e-6f);
        table.inverseRoot(LARGEST, 0f);
        table.inverseRoot(SMALLEST, 0f);
        table.inverseRoot(SUBNORMAL, 0f);
        table.inverseRoot(3f * LEAST, 0f);
        table.inverseRoot(0f, 0f);
        table.inverseRoot(-1f, 0f);
        table.inverseRoot(INFINITY, 0f);
        table.inverseRoot(Float.NaN, 0f);
    }

    /** Of both signs: zeros, subnormals, the ends of exponents and mantissas, infinities. */
    private void weights() {
        for (int value : new int[] {0, 1, -1, 2, 63, 64, 100, 126, 127, -126, -127, -128}) {
            table.int8(value);
        }
        for (int sign : new int[] {0, 0x8000}) {
            for (int magnitude : new int[] {0, 1, 0x7F, 0x80, 0x81, 0x3F80, 0x3FAB, 0x7F7F, 0x7F80}) {
                table.bf16(sign + magnitude);
            }
            for (int magnitude : new int[] {0, 1, 0x3FF, 0x400, 0x401, 0x3C00, 0x3555, 0x7BFF, 0x7C00}) {
                table.f16(sign + magnitude);
            }
        }
    }

    /** The results are the host's engine's, which no device has a part in. */
    private void exponentials() {
        table.exp(0f, 1f);
        table.exp(-0f, 1f);
        table.exp(INFINITY, INFINITY);
        table.exp(-INFINITY, 0f);
        table.exp(Float.NaN, Float.NaN);
        table.exp(1f, 0x1.5bf0a8p1f);
        table.exp(-1f, 0x1.78b564p-2f);
        table.exp(0.5f, 0x1.a61298p0f);
        table.exp(0.7f, 0x1.01c2a6p1f);
        table.exp(-0.3465736f, 0x1.6a09e6p-1f);
        table.exp(1e-8f, 1f);
        table.exp(3.14159f, 0x1.724008p4f);
        table.exp(-5.0625f, 0x1.9ed3p-8f);
        table.exp(10.3f, 0x1.d0928p14f);
        table.exp(-20.7f, 0x1.195912p-30f);
        table.exp(43.1f, 0x1.220c9cp62f);
        table.exp(-43.7f, 0x1.f00294p-64f);
        table.exp(88.72f, 0x1.fe8c9p127f);
        table.exp(88.73f, INFINITY);
        table.exp(-87.33f, 0x1.01ae34p-126f);
        table.exp(-87.34f, 0f);
    }
}
