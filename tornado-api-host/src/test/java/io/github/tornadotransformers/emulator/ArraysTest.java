package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.types.HalfFloat;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.HalfFloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

class ArraysTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 16, 17, 257})
    void floatsComeBackBitForBit(int size) {
        float[] values = new float[size];
        Random random = new Random(size);
        for (int i = 0; i < size; i++) {
            values[i] = Float.intBitsToFloat(random.nextInt());
        }
        FloatArray array = FloatArray.fromArray(values);
        for (int i = 0; i < size; i++) {
            assertThat(Float.floatToRawIntBits(array.get(i)))
                    .as("element %d", i)
                    .isEqualTo(Float.floatToRawIntBits(values[i]));
        }
        assertThat(array.toHeapArray()).isEqualTo(values);
    }

    @Test
    void theHeaderStartsWithTheNumberOfElements() {
        MemorySegment whole = IntArray.fromElements(5, 6, 7).getSegmentWithHeader();
        assertThat(whole.get(ValueLayout.JAVA_INT, 0)).isEqualTo(3);
        assertThat(whole.get(ValueLayout.JAVA_INT, TornadoNativeArray.ARRAY_HEADER))
                .isEqualTo(5);
        assertThat(whole.byteSize()).isEqualTo(TornadoNativeArray.ARRAY_HEADER + 12);
    }

    @Test
    void fromSegmentCopies() {
        MemorySegment source = Arena.ofAuto().allocate(8, 4);
        IntArray array = IntArray.fromSegment(source);
        source.set(ValueLayout.JAVA_INT, 4, 9);
        assertThat(array.toHeapArray()).containsExactly(0, 0);
    }

    @Test
    void fromSegmentShallowSharesTheMemoryBehindTheHeader() {
        MemorySegment source = Arena.ofAuto().allocate(TornadoNativeArray.ARRAY_HEADER + 8, 8);
        IntArray array = IntArray.fromSegmentShallow(source);
        source.set(ValueLayout.JAVA_INT, TornadoNativeArray.ARRAY_HEADER + 4, 9);
        assertThat(array.toHeapArray()).containsExactly(0, 9);
        assertThat(source.get(ValueLayout.JAVA_INT, 0)).isEqualTo(2);
    }

    @Test
    void aSegmentWithABrokenElementIsRefused() {
        MemorySegment source = Arena.ofAuto().allocate(7, 4);
        assertThatThrownBy(() -> FloatArray.fromSegment(source))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("7 bytes do not make an array of 4-byte elements");
    }

    @Test
    void anIndexOutsideTheElementsIsRefusedAlsoWhereTheHeaderLies() {
        ShortArray array = new ShortArray(2);
        assertThatThrownBy(() -> array.get(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> array.set(2, (short) 1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void initSetsAndClearZeroesEveryElement() {
        ByteArray array = new ByteArray(3);
        array.init((byte) -7);
        assertThat(array.toHeapArray()).containsExactly(-7, -7, -7);
        array.clear();
        assertThat(array.toHeapArray()).containsExactly(0, 0, 0);
    }

    @Test
    void everyHalfFloatKeepsItsBits() {
        HalfFloatArray array = new HalfFloatArray(1 << 16);
        for (int i = 0; i < array.getSize(); i++) {
            array.set(i, new HalfFloat((short) i));
        }
        for (int i = 0; i < array.getSize(); i++) {
            HalfFloat half = array.get(i);
            assertThat(half.getHalfFloatValue()).isEqualTo((short) i);
            assertThat(Float.floatToRawIntBits(half.getFloat32()))
                    .as("half %d", i)
                    .isEqualTo(Float.floatToRawIntBits(Float.float16ToFloat((short) i)));
        }
    }

    @Test
    void halfArithmeticRoundsTheFloatResultOnce() {
        HalfFloat third = HalfFloat.div(new HalfFloat(1f), new HalfFloat(3f));
        assertThat(third.getHalfFloatValue()).isEqualTo(Float.floatToFloat16(1f / 3f));
        assertThat(HalfFloat.mult(third, third).getFloat32())
                .isEqualTo(Float.float16ToFloat(Float.floatToFloat16(third.getFloat32() * third.getFloat32())));
    }
}
