package io.github.tornadotransformers.taskgraphs.training;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reader of {@link OnDeviceTest} sees a product that is left to a compiler. */
class KernelSourcesTest {
    private static final String KERNEL = "__kernel void scores(__global long *_kernel_context, __private int n)";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "  f_3  =  f_2 + f_1;",
                "  f_3  =  f_1 - 1.0F;",
                "  f_3  =  f_0 - f_1;",
                "  f_3  =  fma(f_0, f_2, f_1);",
                "  f_3  =  fmaf(2.0F, f_2, f_1);"
            })
    void seesAProductThatJoinsASum(String line) {
        KernelSources sources = KernelSources.of(List.of(KERNEL, "  f_1  =  f_0 * f_2;", line));
        assertThat(sources.unfused()).containsExactly("scores: " + line.strip());
    }

    @Test
    void seesItInPtx() {
        KernelSources sources = KernelSources.of(List.of(
                ".visible .entry scores(.param .u64 x) {",
                "\tmul.rn.f32 f1, f0, f2;",
                "\tfma.rn.f32 f3, f0, f2, f4;",
                "\tmad.rn.f32 f3, f0, f2, f4;",
                "\tmad.lo.s32 i3, i0, i2, i4;",
                "\tadd.rn.f32 f5, f3, f1;",
                "\tsub.f32 f6, f3, f4;"));
        assertThat(sources.fused()).isEqualTo(2);
        assertThat(sources.unfused()).containsExactly("scores: add.rn.f32 f5, f3, f1;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"  f_3  =  f_1;", "  f_3  =  -f_1;", "  f_3  =  (b_1) ? f_0 : f_1;"})
    void seesItOnOneOfTwoPaths(String path) {
        KernelSources sources = KernelSources.of(List.of(
                KERNEL, "  f_1  =  f_0 * f_2;", path, "  f_4  =  f_3;", "  f_4  =  0.0F;", "  f_5  =  f_4 + 1.0F;"));
        assertThat(sources.unfused()).containsExactly("scores: f_5  =  f_4 + 1.0F;");
    }

    @Test
    void seesAChosenOneInPtx() {
        KernelSources sources = KernelSources.of(List.of(
                ".visible .entry scores(.param .u64 x) {",
                "\tmul.rn.f32 f1, f0, f2;",
                "\tselp.f32 f3, f0, f1, p1;",
                "\tadd.rn.f32 f5, f3, f0;"));
        assertThat(sources.unfused()).containsExactly("scores: add.rn.f32 f5, f3, f0;");
    }

    @Test
    void leavesOtherProductsAlone() {
        KernelSources sources = KernelSources.of(List.of(
                KERNEL,
                "  f_1  =  f_0 * f_2;",
                "  f_3  =  f_1 * f_0;",
                "  f_4  =  fma(f_1, f_3, f_0);",
                "  f_5  =  f_4 + f_2;",
                "  i_3  =  i_1 + i_2;"));
        assertThat(sources.fused()).isOne();
        assertThat(sources.unfused()).isEmpty();
    }
}
