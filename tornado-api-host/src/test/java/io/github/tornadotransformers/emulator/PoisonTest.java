package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.DoubleArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.HalfFloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

class PoisonTest {

    static TornadoNativeArray[] arrays() {
        return new TornadoNativeArray[] {
            new ByteArray(3),
            new ShortArray(3),
            new HalfFloatArray(3),
            new IntArray(3),
            new FloatArray(3),
            new DoubleArray(3)
        };
    }

    @ParameterizedTest
    @MethodSource("arrays")
    void aNewCopyIsUntouched(TornadoNativeArray host) {
        TornadoNativeArray copy = Poison.like(host);
        assertThat(copy).hasSameClassAs(host);
        assertThat(copy.getSize()).isEqualTo(3);
        assertThat(Poison.isUntouched(copy)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("arrays")
    void oneBitInTheLastElementTouchesIt(TornadoNativeArray host) {
        TornadoNativeArray copy = Poison.like(host);
        MemorySegment memory = copy.getSegment();
        long last = memory.byteSize() - 1;
        memory.set(ValueLayout.JAVA_BYTE, last, (byte) (memory.get(ValueLayout.JAVA_BYTE, last) ^ 1));
        assertThat(Poison.isUntouched(copy)).isFalse();
    }

    @Test
    void anArrayWithoutElementsCountsAsTouched() {
        assertThat(Poison.isUntouched(Poison.like(new IntArray(0)))).isFalse();
    }

    @Test
    void floatingPointPoisonIsNan() {
        assertThat(Float.intBitsToFloat(Poison.FLOAT)).isNaN();
        assertThat(Double.longBitsToDouble(Poison.DOUBLE)).isNaN();
        assertThat(Float.float16ToFloat(Poison.HALF)).isNaN();
    }

    @Test
    void shortPoisonIsNanAsFloat16AndAsBfloat16() {
        assertThat(Float.float16ToFloat(Poison.SHORT)).isNaN();
        assertThat(Float.intBitsToFloat(Poison.SHORT << 16)).isNaN();
    }
}
