package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.models.batching.KvType;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** Keys or values as kernels take them; the array that the type does not use has one element. */
record KvPool(KvType type, FloatArray floats, ShortArray shorts) {
    /** Of numbers that the type has, or NaN. */
    static KvPool of(KvType type, FloatArray values) {
        if (type == KvType.F32) {
            return new KvPool(type, values, new ShortArray(1));
        }
        ShortArray shorts = new ShortArray(values.getSize());
        for (int i = 0; i < values.getSize(); i++) {
            shorts.set(i, type.narrow(values.get(i)));
        }
        return new KvPool(type, KernelArrays.nan(1), shorts);
    }

    /** The nearest numbers that a type has. */
    static float[] rounded(KvType type, float[] values) {
        float[] rounded = values.clone();
        for (int i = 0; i < values.length && type != KvType.F32; i++) {
            rounded[i] = type.widen(type.narrow(values[i]));
        }
        return rounded;
    }

    int format() {
        return switch (type) {
            case F32 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
        };
    }

    FloatArray powers() {
        return WeightFormat.powers(format());
    }

    FloatArray bounds() {
        return KvFormat.bounds(format());
    }

    /** The numbers that it holds. */
    float[] toHeapArray() {
        if (type == KvType.F32) {
            return floats.toHeapArray();
        }
        float[] values = new float[shorts.getSize()];
        for (int i = 0; i < values.length; i++) {
            values[i] = type.widen(shorts.get(i));
        }
        return values;
    }
}
