package io.github.tornadotransformers.kernels;

/**
 * Products that are fused into the sums they join: rounded once, the same on every processor. TornadoVM makes an fma of every
 * float addition of a product, and of nothing else; as plain Java a kernel calls {@link Math#fma}.
 *
 * <p>TornadoVM's compiler must find one product and an addition. What it would see otherwise is written so that it is not:
 * the term that a product joins is no product ({@link #product} is none), on no path to it, nothing is subtracted that is a product,
 * and a term is negated by {@link #negated}, as adding what a minus sign has negated becomes a subtraction.
 */
public final class Fused {
    private static final String RUNTIME = "tornado.runtime";

    /** Whether kernels are compiled for a device in this JVM. TornadoVM folds it when it parses a kernel. */
    private static final boolean ON_DEVICE =
            ModuleLayer.boot().findModule(RUNTIME).isPresent();

    private Fused() {}

    /** Whether kernels are for a device alone: called as plain Java here, they would round a product before it is added. */
    public static boolean isForDevices() {
        return ON_DEVICE;
    }

    /** {@code a * b + c}, rounded once; {@code c} is no product. */
    static float fma(float a, float b, float c) {
        return ON_DEVICE ? a * b + c : Math.fma(a, b, c);
    }

    /** {@code a * b} by itself, which no sum that it joins takes apart: fused with 0, so that -0 becomes 0. */
    static float product(float a, float b) {
        return fma(a, b, 0f);
    }

    /** {@code -x} as a product by itself; 0 of either zero. */
    static float negated(float x) {
        return product(-1f, x);
    }
}
