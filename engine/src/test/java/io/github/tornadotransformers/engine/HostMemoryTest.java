package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class HostMemoryTest {
    private static final long GIB = 1L << 30;

    @Test
    void modelThatDoesNotFitIsRefusedWithBothFigures() {
        assertThatThrownBy(() -> HostMemory.require(25 * GIB, 3 * GIB, 16 * GIB, DType.F32))
                .isInstanceOf(MemoryException.class)
                .hasMessage(
                        "the model needs 28.0 GiB (weights as f32 25.0, cache 3.0), but 16.0 GiB of memory are free:"
                                + " try dtype bf16 or int8, or a smaller context");
    }

    @Test
    void modelThatJustFitsIsTaken() {
        assertThatCode(() -> HostMemory.require(13 * GIB, 3 * GIB, 16 * GIB, DType.F32))
                .doesNotThrowAnyException();
    }

    @Test
    void cacheThatDoesNotFitTheHeapIsRefusedWithBothFigures() {
        assertThatThrownBy(() -> HostMemory.requireHeap(1 << 20, 8 * GIB, 6 * GIB))
                .isInstanceOf(MemoryException.class)
                .hasMessage(
                        "the cache of 1048576 positions needs 8.0 GiB of the JVM's heap, which has room for 6.0 GiB: try a"
                                + " smaller context, or start java with -Xmx…");
        assertThatCode(() -> HostMemory.requireHeap(1 << 20, 6 * GIB, 6 * GIB)).doesNotThrowAnyException();
    }

    @Test
    void littleIsNotShownAsNothing() {
        assertThat(HostMemory.figures(TestCheckpoints.gpt2().program(37), 34 << 10, DType.BF16))
                .isEqualTo("34.0 KiB of weights as bf16, 63.0 KiB of cache for 37 positions");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "the peak is read from /proc")
    void peakIsThisProcesss() {
        OptionalLong peak = HostMemory.peakBytes();
        assertThat(peak).isPresent();
        assertThat(peak.getAsLong()).isGreaterThan(Runtime.getRuntime().totalMemory() / 10);
    }
}
