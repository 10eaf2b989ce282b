package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class PanelSweepTest {
    private static final int ALL = 1 << Short.SIZE;

    /** One row of every half there is, subnormal ones, infinities and NaNs among them, times one. */
    @Test
    void everyHalfIsTheFloatThatJavaMakesOfIt() {
        float[] one = {1f};
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment elements = arena.allocate((long) ALL * Short.BYTES, WeightLayout.PANEL);
            for (int i = 0; i < ALL; i++) {
                elements.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) i);
            }
            HostMatrix matrix = new HostMatrix(DType.F16, 1, ALL, WeightLayout.PANELS, elements, MemorySegment.NULL);
            PanelSweep sweep = new PanelSweep();
            float[] total = new float[PanelSweep.COLUMNS];
            int panels = PanelSweep.abreast(DType.F16, ALL / WeightLayout.PANEL);
            for (int column = 0; column < ALL; column += panels * WeightLayout.PANEL) {
                assertThat(PanelSweep.takes(matrix, column)).isTrue();
                sweep.product(one, 0, matrix, column, panels, total);
                for (int c = 0; c < panels * WeightLayout.PANEL; c++) {
                    // A sum begins with 0, to which -0 adds nothing.
                    float expected = 0f + Float.float16ToFloat((short) (column + c));
                    assertThat(Float.floatToIntBits(total[c]))
                            .as("half %04x", column + c)
                            .isEqualTo(Float.floatToIntBits(expected));
                }
            }
        }
    }
}
