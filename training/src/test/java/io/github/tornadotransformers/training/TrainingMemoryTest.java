package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Locale;
import org.junit.jupiter.api.Test;

class TrainingMemoryTest {
    private static final long GIB = 1L << 30;

    @Test
    void whatTheJvmMayHaveIsEnough() {
        assertThatCode(() -> TrainingMemory.require(Runtime.getRuntime().maxMemory()))
                .doesNotThrowAnyException();
    }

    @Test
    void moreIsRefusedWithBothFiguresAndAHeapThatHoldsIt() {
        long allowed = Runtime.getRuntime().maxMemory();
        String mayHave = String.format(Locale.ROOT, "the JVM may have %.1f:", (double) allowed / GIB);
        assertThatThrownBy(() -> TrainingMemory.require(allowed + 1))
                .isInstanceOf(TrainingException.class)
                .hasMessageContaining(mayHave);
        assertThatThrownBy(() -> TrainingMemory.require(GIB << 20))
                .isInstanceOf(TrainingException.class)
                .hasMessageStartingWith("training needs 1048576.0 GiB of memory, and " + mayHave)
                .hasMessageEndingWith("-Xmx1258292g");
    }
}
