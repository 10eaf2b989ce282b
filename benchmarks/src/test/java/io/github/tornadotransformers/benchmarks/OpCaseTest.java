package io.github.tornadotransformers.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.gemma2.Gemma2Family;
import io.github.tornadotransformers.models.program.Op;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OpCaseTest {
    private static final long SMALL_CACHE = 64 << 10;

    /** Together they have every Op, and attention of both kinds. */
    private static Stream<ModelConfig> models() {
        return Stream.of(
                TestCheckpoints.gpt2(),
                TestCheckpoints.llama(),
                new Gemma2Family().examples().getFirst());
    }

    static Stream<Arguments> everyOp() {
        return models().flatMap(config -> new OpCases(config, SMALL_CACHE)
                .keys(List.of(BenchTest.Phase.values()), List.of(), DType.OF_MATRICES).stream()
                        .map(key -> Arguments.of(config, key)));
    }

    @ParameterizedTest
    @MethodSource("everyOp")
    void anEngineThatIsRightIsFoundRight(ModelConfig config, OpCases.Key key) {
        try (OpCase each = new OpCases(config, SMALL_CACHE).open(key);
                HostOps engine = new VectorOps(2)) {
            assertThat(each.firstDifference(engine, _ -> {})).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("everyOp")
    void anEngineThatIsWrongInOneBitIsFoundWrong(ModelConfig config, OpCases.Key key) {
        try (OpCase each = new OpCases(config, SMALL_CACHE).open(key)) {
            Optional<String> difference = each.firstDifference(wrongInTheFirstElement(), _ -> {});

            assertThat(difference)
                    .hasValueSatisfying(words ->
                            assertThat(words).startsWith(key.op() + " (").contains("row ", "element ", "expected "));
        }
    }

    @ParameterizedTest
    @MethodSource("everyOp")
    void anEngineThatDoesNothingIsFoundWrong(ModelConfig config, OpCases.Key key) {
        try (OpCase each = new OpCases(config, SMALL_CACHE).open(key)) {
            assertThat(each.firstDifference(engine((_, _) -> {}), _ -> {})).isPresent();
        }
    }

    @ParameterizedTest
    @MethodSource("everyOp")
    void aCaseIsFoundRightAgainAfterManyRuns(ModelConfig config, OpCases.Key key) {
        try (OpCase each = new OpCases(config, SMALL_CACHE).open(key);
                HostOps engine = new ScalarOps()) {
            for (int run = 0; run < 5; run++) {
                each.run(engine);
            }
            assertThat(each.firstDifference(engine, _ -> {})).isEmpty();
        }
    }

    @Test
    void aWrongEngineIsNotTimed() {
        OpCases cases = new OpCases(TestCheckpoints.llama(), SMALL_CACHE);
        OpCases.Key key = new OpCases.Key("rotary", BenchTest.Phase.DECODE, DType.F32);
        try (OpCase each = cases.open(key);
                Roofline roofline = new Roofline(new StreamingRead(1), 1)) {
            KernelBench bench = new KernelBench(roofline, 1, 0);

            assertThatThrownBy(
                            () -> bench.run("llama", key.phase(), each, EngineKind.HOST, wrongInTheFirstElement(), 1))
                    .hasMessageStartingWith("engine host is wrong at rotary (1 x 6/2 heads of 10), row 0, element 0: ")
                    .hasMessageEndingWith(": not timed");
        }
    }

    @Test
    void weightsLeaveTheCacheWhereThoseOfTheModelDo() {
        OpCases.Key key = new OpCases.Key("qkvProj", BenchTest.Phase.DECODE, DType.F32);
        try (OpCase streamed = new OpCases(TestCheckpoints.llama(), SMALL_CACHE).open(key);
                OpCase cached = new OpCases(TestCheckpoints.llama(), 1 << 30).open(key)) {
            OpShape shape = streamed.shape();
            assertThat(shape.streams()).isTrue();
            assertThat(shape.copies() * shape.cost().weightBytes()).isGreaterThanOrEqualTo(2 * SMALL_CACHE);
            assertThat(cached.shape().streams()).isFalse();
            assertThat(cached.shape().copies()).isEqualTo(3);
        }
    }

    @Test
    void anOpThatTheModelDoesNotHaveIsRefused() {
        OpCases cases = new OpCases(TestCheckpoints.gpt2(), SMALL_CACHE);
        assertThatExceptionOfType(InvalidRequest.class)
                .isThrownBy(() -> cases.keys(List.of(BenchTest.Phase.DECODE), List.of("rotary"), List.of(DType.F32)))
                .withMessageStartingWith("the model has no Op 'rotary', expected one of tokenEmbedding, ");
    }

    /** Layers with a window have Ops of the same names, which cost less. */
    @Test
    void opsOfLayersWithAWindowAreCasesOfTheirOwn() {
        OpCases cases = new OpCases(new Gemma2Family().examples().getFirst(), SMALL_CACHE);
        List<OpCases.Key> keys =
                cases.keys(List.of(BenchTest.Phase.DECODE), List.of("attentionScores"), List.of(DType.F32));

        assertThat(keys.stream().map(OpCases.Key::op)).containsExactly("attentionScores.window5", "attentionScores");
        assertThat(keys.stream().map(cases::shape).map(shape -> shape.cost().operations()))
                .isSortedAccordingTo(Comparator.naturalOrder())
                .doesNotHaveDuplicates();
        assertThat(cases.keys(List.of(BenchTest.Phase.values()), List.of(), DType.OF_MATRICES))
                .doesNotHaveDuplicates();
    }

    @Test
    void everyOpOfTheProgramsButTheCopyOfRowsIsThere() {
        List<String> names = models().flatMap(config -> config.program(1).ops().stream())
                .map(op -> op.getClass().getSimpleName())
                .distinct()
                .sorted()
                .toList();
        List<String> all = Arrays.stream(Op.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .sorted()
                .toList();

        assertThat(names).isEqualTo(all);
    }

    /** Runs on {@link ScalarOps}, then changes a bit of the last array of floats: what it wrote, or what the cache got. */
    private static HostOps wrongInTheFirstElement() {
        ScalarOps right = new ScalarOps();
        return engine((method, arguments) -> {
            method.invoke(right, arguments);
            float[] written = (float[]) arguments[arguments.length - 1];
            for (int i = 0; i < written.length; i++) {
                written[i] = Float.intBitsToFloat(Float.floatToRawIntBits(written[i]) ^ 1);
            }
        });
    }

    private interface Behaviour {
        void call(java.lang.reflect.Method method, Object[] arguments) throws ReflectiveOperationException;
    }

    private static HostOps engine(Behaviour behaviour) {
        return (HostOps) Proxy.newProxyInstance(
                HostOps.class.getClassLoader(), new Class<?>[] {HostOps.class}, (_, method, arguments) -> {
                    behaviour.call(method, arguments);
                    return null;
                });
    }
}
