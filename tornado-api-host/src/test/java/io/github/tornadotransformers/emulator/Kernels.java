package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.KernelContext;
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

    /** x[i] = x[i] / sum_j x[j], which is another sum once some are divided. */
    static void divideBySum(FloatArray x) {
        for (@Parallel int i = 0; i < x.getSize(); i++) {
            float sum = 0f;
            for (int j = 0; j < x.getSize(); j++) {
                sum += x.get(j);
            }
            x.set(i, x.get(i) / sum);
        }
    }

    /** to[i + 1] = from[i]; to[0] = 0. */
    static void shift(FloatArray from, FloatArray to) {
        for (@Parallel int i = 0; i < from.getSize(); i++) {
            to.set((i + 1) % to.getSize(), i + 1 < to.getSize() ? from.get(i) : 0f);
        }
    }

    /** last[0] = i, of the item that comes last. */
    static void last(FloatArray last, int items) {
        for (@Parallel int i = 0; i < items; i++) {
            last.set(0, i);
        }
    }

    /** position[i] = how many items ran before i, which is kept in the element behind the last. */
    static void countItems(IntArray positions, int items) {
        for (@Parallel int i = 0; i < items; i++) {
            positions.set(i, positions.get(items));
            positions.set(items, positions.get(items) + 1);
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

    /** Reverses the elements of each group, by way of local memory. */
    static void reverseGroups(KernelContext context, FloatArray x) {
        float[] shared = context.allocateFloatLocalArray(context.localGroupSizeX);
        shared[context.localIdx] = x.get(context.globalIdx);
        context.localBarrier();
        x.set(context.globalIdx, shared[context.localGroupSizeX - 1 - context.localIdx]);
    }

    /** to[i] = an element of local memory that another item of the group writes before or after. */
    static void reverseWithoutBarrier(KernelContext context, FloatArray from, FloatArray to) {
        float[] shared = context.allocateFloatLocalArray(context.localGroupSizeX);
        shared[context.localIdx] = from.get(context.globalIdx);
        to.set(context.globalIdx, shared[context.localGroupSizeX - 1 - context.localIdx]);
    }

    /** The first item of a group ends where the others wait. */
    static void waitWithoutTheFirst(KernelContext context, FloatArray x) {
        x.set(context.globalIdx, context.groupIdx);
        if (context.localIdx > 0) {
            context.localBarrier();
        }
    }

    /** Every item of a group writes the group's element. */
    static void numberGroups(KernelContext context, FloatArray x) {
        x.set(context.groupIdx, context.globalGroupSizeX);
    }

    /** counts[i] = how many of the items behind it in the group have come to each of three barriers, added up. */
    static void countAtBarriers(KernelContext context, IntArray counts) {
        int[] arrived = context.allocateIntLocalArray(context.localGroupSizeX);
        int sum = 0;
        for (int barrier = 1; barrier <= 3; barrier++) {
            arrived[context.localIdx] = barrier;
            context.localBarrier();
            for (int item = context.localIdx; item < context.localGroupSizeX; item++) {
                sum += arrived[item];
            }
            context.localBarrier();
        }
        counts.set(context.globalIdx, sum);
    }

    /** out[i] = v_i. */
    static void list(
            IntArray out,
            int v0,
            int v1,
            int v2,
            int v3,
            int v4,
            int v5,
            int v6,
            int v7,
            int v8,
            int v9,
            int v10,
            int v11,
            int v12,
            int v13) {
        out.set(0, v0);
        out.set(1, v1);
        out.set(2, v2);
        out.set(3, v3);
        out.set(4, v4);
        out.set(5, v5);
        out.set(6, v6);
        out.set(7, v7);
        out.set(8, v8);
        out.set(9, v9);
        out.set(10, v10);
        out.set(11, v11);
        out.set(12, v12);
        out.set(13, v13);
    }
}
