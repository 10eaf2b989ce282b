package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.KvFormat;
import io.github.tornadotransformers.kernels.WeightFormat;
import java.util.List;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** A small array whose contents its key says: every graph has a copy of its own. */
public sealed interface ConstantKey<T extends TornadoNativeArray> extends ArrayKey<T>, Argument<T> {
    long elements();

    /** @param array of {@link #elements}, all 0 */
    void fill(T array);

    @Override
    default T in(DeviceArrays arrays) {
        return arrays.get(this);
    }

    /** Says a layer, for kernels that always work on it. */
    record Layer(int index) implements ConstantKey<IntArray> {
        @Override
        public ElementType<IntArray> type() {
            return ElementType.INT;
        }

        @Override
        public long elements() {
            return 1;
        }

        @Override
        public void fill(IntArray array) {
            array.set(0, index);
        }
    }

    /**
     * The powers of two that a format's elements are made with.
     *
     * @param format a constant of {@link WeightFormat}
     */
    record Powers(int format) implements ConstantKey<FloatArray> {
        @Override
        public ElementType<FloatArray> type() {
            return ElementType.FLOAT;
        }

        @Override
        public long elements() {
            return WeightFormat.powers(format).getSize();
        }

        @Override
        public void fill(FloatArray array) {
            array.getSegment().copyFrom(WeightFormat.powers(format).getSegment());
        }
    }

    /**
     * The numbers at which the exponents of a format's elements begin, for kernels that store them.
     *
     * @param format a constant of {@link WeightFormat}
     */
    record Bounds(int format) implements ConstantKey<FloatArray> {
        @Override
        public ElementType<FloatArray> type() {
            return ElementType.FLOAT;
        }

        @Override
        public long elements() {
            return KvFormat.bounds(format).getSize();
        }

        @Override
        public void fill(FloatArray array) {
            array.getSegment().copyFrom(KvFormat.bounds(format).getSegment());
        }
    }

    /**
     * Where what kernels read begins in other arrays.
     *
     * @param starts as {@link io.github.tornadotransformers.kernels.StoredFormat} has them
     */
    record Places(List<Integer> starts) implements ConstantKey<IntArray> {
        public Places {
            starts = List.copyOf(starts);
        }

        @Override
        public ElementType<IntArray> type() {
            return ElementType.INT;
        }

        @Override
        public long elements() {
            return starts.size();
        }

        @Override
        public void fill(IntArray array) {
            for (int i = 0; i < starts.size(); i++) {
                array.set(i, starts.get(i));
            }
        }
    }

    /**
     * In place of an array that a kernel takes and does not use.
     *
     * @param argument tells it from others of its task, where the kernel's code would write both: TornadoVM 5.2 waits for ever for
     *     a task that writes an array twice to come before itself
     */
    record Unread<T extends TornadoNativeArray>(ElementType<T> type, String argument) implements ConstantKey<T> {
        Unread(ElementType<T> type) {
            this(type, "");
        }

        @Override
        public long elements() {
            return 1;
        }

        @Override
        public void fill(T array) {
            // Nobody reads it.
        }
    }
}
