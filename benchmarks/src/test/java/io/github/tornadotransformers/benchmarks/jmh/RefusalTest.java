package io.github.tornadotransformers.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is wrong is not timed: engines that change one bit of what the definition gives. */
class RefusalTest {
    private static Selection scalar() {
        return new Selection(Map.of(
                "model", List.of("tiny-gpt2", "tiny-llama"), "engine", List.of("scalar"), "dtype", List.of("f32")));
    }

    static Stream<Case> ops() {
        return scalar().ops().stream();
    }

    static Stream<Case> gradients() {
        return scalar().gradients().stream();
    }

    @ParameterizedTest
    @MethodSource("ops")
    void aWrongOpIsNotTimed(Case of) {
        HostOps wrong = wrongInOneBit(HostOps.class, new ScalarOps());
        CheckedBenchmark benchmark = new OpBenchmark() {
            @Override
            Subject open() {
                return new OpRun(OpRun.cases(of.model()).open(OpRun.key(of)), "wrong", wrong, _ -> {});
            }
        };

        assertThatThrownBy(benchmark::prepare)
                .hasMessageStartingWith("engine wrong is wrong at " + of.op() + " (")
                .hasMessageEndingWith(": not timed");
    }

    @ParameterizedTest
    @MethodSource("gradients")
    void aWrongGradientIsNotTimed(Case of) {
        BackwardOps wrong = wrongInOneBit(BackwardOps.class, new ScalarBackwardOps());
        CheckedBenchmark benchmark = new GradientBenchmark() {
            @Override
            Subject open() {
                return new GradientRun(GradientRun.find(of), wrong, () -> {});
            }
        };

        assertThatThrownBy(benchmark::prepare)
                .hasMessageStartingWith("the gradient " + of.op() + " (")
                .hasMessageEndingWith(": not timed");
    }

    /** Changes a bit of each element of the last array. */
    private static <T> T wrongInOneBit(Class<T> type, T right) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (_, method, arguments) -> {
                    Object result = method.invoke(right, arguments);
                    if (arguments != null) {
                        float[] written = (float[]) arguments[arguments.length - 1];
                        for (int i = 0; i < written.length; i++) {
                            written[i] = Float.intBitsToFloat(Float.floatToRawIntBits(written[i]) ^ 1);
                        }
                    }
                    return result;
                }));
    }
}
