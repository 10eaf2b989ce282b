package io.github.tornadotransformers.benchmarks;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products and sums in registers: {@code a = a * m + s}, fused, in twelve chains that do not wait for each other. It is
 * the most that a kernel of the arithmetic contract can compute.
 */
final class MultiplyAdd {
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final int CHAINS = 12;
    private static final int STEPS = 10_000;
    private static final float HALF = 0.5f;

    /** Keeps the compiler from leaving out what nobody reads. */
    private volatile float last;

    /** @return how many operations were done, two for each fused product and sum */
    long pass() {
        FloatVector m = FloatVector.broadcast(FLOATS, HALF);
        FloatVector s = FloatVector.broadcast(FLOATS, HALF);
        FloatVector a0 = FloatVector.zero(FLOATS);
        FloatVector a1 = a0.add(m);
        FloatVector a2 = a1.add(m);
        FloatVector a3 = a2.add(m);
        FloatVector a4 = a3.add(m);
        FloatVector a5 = a4.add(m);
        FloatVector a6 = a5.add(m);
        FloatVector a7 = a6.add(m);
        FloatVector a8 = a7.add(m);
        FloatVector a9 = a8.add(m);
        FloatVector a10 = a9.add(m);
        FloatVector a11 = a10.add(m);
        for (int i = 0; i < STEPS; i++) {
            a0 = a0.fma(m, s);
            a1 = a1.fma(m, s);
            a2 = a2.fma(m, s);
            a3 = a3.fma(m, s);
            a4 = a4.fma(m, s);
            a5 = a5.fma(m, s);
            a6 = a6.fma(m, s);
            a7 = a7.fma(m, s);
            a8 = a8.fma(m, s);
            a9 = a9.fma(m, s);
            a10 = a10.fma(m, s);
            a11 = a11.fma(m, s);
        }
        FloatVector sum = a0.add(a1)
                .add(a2)
                .add(a3)
                .add(a4)
                .add(a5)
                .add(a6)
                .add(a7)
                .add(a8)
                .add(a9)
                .add(a10)
                .add(a11);
        last = sum.lane(0);
        return 2L * STEPS * CHAINS * FLOATS.length();
    }

    float last() {
        return last;
    }
}
