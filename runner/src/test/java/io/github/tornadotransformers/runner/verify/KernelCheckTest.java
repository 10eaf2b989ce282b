package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.host.ForwardingOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelCheckTest {
    @Test
    void vectorKernelsHaveTheScalarBits() {
        try (VectorOps ops = new VectorOps(2)) {
            List<KernelCheck.Verdict> verdicts = KernelCheck.run(ops, Tolerance.EXACT, 1);
            assertThat(verdicts).hasSize(61).allSatisfy(verdict -> {
                assertThat(verdict.firstRefused())
                        .as(verdict.kernel().toString())
                        .isEmpty();
                assertThat(verdict.differences().elements()).isPositive();
            });
        }
    }

    @Test
    void aKernelThatIsOneUlpOffIsNamed() {
        try (ForwardingOps faulty = new ForwardingOps(new ScalarOps()) {
            @Override
            public void rmsNorm(
                    Groups groups, float[] x, float[] weight, float epsilon, Residual residual, int rows, float[] out) {
                super.rmsNorm(groups, x, weight, epsilon, residual, rows, out);
                if (groups.equals(Groups.wholeRow(2048)) && !residual.adds()) {
                    out[7] = Math.nextDown(out[7]);
                }
            }
        }) {
            List<KernelCheck.Verdict> wrong = KernelCheck.run(faulty, Tolerance.EXACT, 1).stream()
                    .filter(verdict -> !verdict.agrees())
                    .toList();
            assertThat(wrong).hasSize(1);
            assertThat(wrong.getFirst().kernel().name()).isEqualTo("rmsNorm");
            assertThat(wrong.getFirst().firstRefused().orElseThrow()).startsWith("1 x 2048, element 7:");
            assertThat(wrong.getFirst().differences().largestUlps()).isOne();
            assertThat(wrong.getFirst().differences().differing()).isEqualTo(2);
        }
    }
}
