package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Methods that the tests of the emulator run as tasks. */
final class Kernels {

    private Kernels() {}

    /** to[i] = from[i] for the first {@code count} elements. */
    static void copy(FloatArray from, FloatArray to, int count) {
        for (@Parallel int i = 0; i < count; i++) {
            to.set(i, from.get(i));
        }
    }

    /** x[i] = x[i] + amount. */
    static void add(FloatArray x, float amount) {
        for (@Parallel int i = 0; i < x.getSize(); i++) {
            x.set(i, x.get(i) + amount);
        }
    }

    /** x[i] = x[i] + y[0]. */
    static void addFirst(FloatArray x, IntArray y) {
        for (@Parallel int i = 0; i < x.getSize(); i++) {
            x.set(i, x.get(i) + y.get(0));
        }
    }

    /** x[i] = x[i] * weights[layer[0]]. */
    static void scaleByLayer(FloatArray x, FloatArray weights, IntArray layer) {
        for (@Parallel int i = 0; i < x.getSize(); i++) {
            x.set(i, x.get(i) * weights.get(layer.get(0)));
        }
    }

    /** counter[0] = counter[0] + 1. */
    static void increment(IntArray counter) {
        counter.set(0, counter.get(0) + 1);
    }

    /** x[i] = 0. */
    static void zero(FloatArray x) {
        for (@Parallel int i = 0; i < x.getSize(); i++) {
            x.set(i, 0f);
        }
    }
}
