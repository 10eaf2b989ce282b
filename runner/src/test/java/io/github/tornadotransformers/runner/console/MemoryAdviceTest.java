package io.github.tornadotransformers.runner.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryAdviceTest {
    private static final long MIB = 1L << 20;

    private static String advice(String error, long heapBytes, Predicate<String> hasOption) {
        return MemoryAdvice.of(new OutOfMemoryError(error), heapBytes, hasOption);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Java heap space", "GC overhead limit exceeded"})
    void fullHeapNamesItsFlag(String error) {
        assertThat(advice(error, 24 * MIB, _ -> false))
                .isEqualTo("the JVM's heap of 24 MiB is full: set TRANSFORMERS_JVM_FLAGS=-Xmx48m");
        assertThat(advice(error, 3072 * MIB, "--context"::equals))
                .isEqualTo(
                        "the JVM's heap of 3072 MiB is full: set TRANSFORMERS_JVM_FLAGS=-Xmx6g, or try a smaller --context");
    }

    @Test
    void otherMemoryIsNotTheHeaps() {
        String error = "Cannot reserve 4096 bytes of direct buffer memory";
        assertThat(advice(error, MIB, "--context"::equals))
                .isEqualTo("there is not enough memory (" + error + "): try a smaller --context");
        assertThat(advice(error, MIB, _ -> false)).isEqualTo("there is not enough memory (" + error + ")");
    }

    @Test
    void threadsThatCannotStartNameTheirNumber() {
        String error = "unable to create native thread: possibly out of memory or process/resource limits reached";
        assertThat(advice(error, MIB, _ -> true))
                .isEqualTo("there is not enough memory (" + error + "): try fewer --threads");
    }
}
