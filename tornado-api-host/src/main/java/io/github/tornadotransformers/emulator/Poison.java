package io.github.tornadotransformers.emulator;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.DoubleArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.HalfFloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * What device memory holds before anything is written to it: NaN in arrays of floats, doubles and half floats; a large negative
 * number in int arrays; in short arrays a pattern that is NaN both as float16 and as bfloat16; {@code 0xAD} in byte arrays.
 */
final class Poison {
    static final long DOUBLE = 0x7FF8_BADD_BADD_BADDL;
    static final int FLOAT = 0x7FC0_BADD;
    static final short HALF = 0x7EAD;
    static final short SHORT = 0x7FAD;
    static final int INT = 0xBADD_BADD;
    static final byte BYTE = (byte) 0xAD;

    private Poison() {}

    /** A new array of the same type and size as {@code host}, all poison. */
    static TornadoNativeArray like(TornadoNativeArray host) {
        TornadoNativeArray copy = emptyLike(host);
        fill(copy, 0, copy.getSize());
        return copy;
    }

    /** What a group's local memory holds before anything is written to it. */
    static float[] floats(int size) {
        float[] floats = new float[size];
        Arrays.fill(floats, Float.intBitsToFloat(FLOAT));
        return floats;
    }

    /** As {@link #floats}. */
    static int[] ints(int size) {
        int[] ints = new int[size];
        Arrays.fill(ints, INT);
        return ints;
    }

    /** Makes {@code count} elements poison. */
    static void fill(TornadoNativeArray copy, int first, int count) {
        MemorySegment memory = copy.getSegment();
        for (int i = first; i < first + count; i++) {
            switch (copy) {
                case ByteArray _ -> memory.setAtIndex(ValueLayout.JAVA_BYTE, i, BYTE);
                case ShortArray _ -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, SHORT);
                case HalfFloatArray _ -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, HALF);
                case IntArray _ -> memory.setAtIndex(ValueLayout.JAVA_INT, i, INT);
                case FloatArray _ -> memory.setAtIndex(ValueLayout.JAVA_INT, i, FLOAT);
                case DoubleArray _ -> memory.setAtIndex(ValueLayout.JAVA_LONG, i, DOUBLE);
            }
        }
    }

    private static TornadoNativeArray emptyLike(TornadoNativeArray host) {
        int size = host.getSize();
        return switch (host) {
            case ByteArray _ -> new ByteArray(size);
            case ShortArray _ -> new ShortArray(size);
            case HalfFloatArray _ -> new HalfFloatArray(size);
            case IntArray _ -> new IntArray(size);
            case FloatArray _ -> new FloatArray(size);
            case DoubleArray _ -> new DoubleArray(size);
        };
    }

    /** Whether every element is poison still; an array without elements counts as touched. */
    static boolean isUntouched(TornadoNativeArray copy) {
        for (int i = 0; i < copy.getSize(); i++) {
            if (!isPoison(copy, i)) {
                return false;
            }
        }
        return copy.getSize() > 0;
    }

    private static boolean isPoison(TornadoNativeArray copy, int index) {
        MemorySegment memory = copy.getSegment();
        return switch (copy) {
            case ByteArray _ -> memory.getAtIndex(ValueLayout.JAVA_BYTE, index) == BYTE;
            case ShortArray _ -> memory.getAtIndex(ValueLayout.JAVA_SHORT, index) == SHORT;
            case HalfFloatArray _ -> memory.getAtIndex(ValueLayout.JAVA_SHORT, index) == HALF;
            case IntArray _ -> memory.getAtIndex(ValueLayout.JAVA_INT, index) == INT;
            case FloatArray _ -> memory.getAtIndex(ValueLayout.JAVA_INT, index) == FLOAT;
            case DoubleArray _ -> memory.getAtIndex(ValueLayout.JAVA_LONG, index) == DOUBLE;
        };
    }
}
