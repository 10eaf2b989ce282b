package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Verify finds each kind of fault, where it is. */
class FaultTest {
    private static final int[] PROMPT = {3, 1, 4, 1, 5, 9, 2, 6};

    private static ModelConfig gpt2() {
        return new Gpt2Config(new Sizes(61, 32, 24, 96, 3), 2, 1e-5f, true, true);
    }

    private static ModelConfig llama() {
        return new LlamaConfig(
                new Sizes(61, 32, 24, 40, 3),
                new Heads(4, 2, 6),
                new Rope(10000, 6, new RopeScaling.None()),
                1e-5f,
                false,
                false,
                false);
    }

    private static Comparison check(ModelConfig config, Fault fault) {
        Program program = config.program(32);
        Weights weights = RandomModels.weights(program, DType.F32, new RandomData(7));
        return check(program, weights, fault.open(program, weights));
    }

    private static Comparison check(Program program, Weights weights, ForwardPass other) {
        try (ForwardPass reference = new HostForwardPass(program, weights, new VectorOps(2));
                other) {
            EngineCheck.Subject subject = new EngineCheck.Subject("faulty", other, Tolerance.EXACT);
            return new EngineCheck(new EngineCheck.Subject("host", reference, Tolerance.EXACT), List.of(subject), true)
                    .run(PROMPT, 3)
                    .getFirst();
        }
    }

    static Stream<Arguments> everyOpOfTheSecondLayer() {
        return Stream.of(gpt2(), llama())
                .flatMap(config -> config.program(32).kinds().getFirst().ops().stream()
                        .filter(op -> !(op instanceof Op.CacheAppend))
                        .map(op -> Arguments.of(config.modelType(), op.name())));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everyOpOfTheSecondLayer")
    void oneUlpIsFoundAtItsOp(String family, String op) {
        Comparison comparison = check(family.equals("gpt2") ? gpt2() : llama(), new Fault.OneUlp(1, op));
        FirstDifference first = comparison.first().orElseThrow();
        assertThat(first.step()).isZero();
        assertThat(first.point()).isEqualTo(new TracePoint(1, op));
        assertThat(first.position()).isEqualTo(PROMPT.length - 1);
        assertThat(Math.nextUp((float) first.expected())).isEqualTo((float) first.actual());
    }

    @Test
    void swappedLayersAreFoundInTheFirst() {
        FirstDifference first =
                check(llama(), new Fault.SwappedLayers()).first().orElseThrow();
        assertThat(first.step()).isZero();
        assertThat(first.point()).isEqualTo(new TracePoint(0, "attentionNorm"));
    }

    @Test
    void aMissingCausalMaskIsFoundInTheFirstSoftmax() {
        FirstDifference first = check(gpt2(), new Fault.NoCausalMask()).first().orElseThrow();
        assertThat(first.step()).isZero();
        assertThat(first.point()).isEqualTo(new TracePoint(0, "attentionSoftmax"));
        assertThat(first.position()).isZero();
    }

    @Test
    void wrongRotaryPairsAreFoundInTheFirstRotation() {
        FirstDifference first =
                check(llama(), new Fault.InterleavedRotary()).first().orElseThrow();
        assertThat(first.step()).isZero();
        assertThat(first.point()).isEqualTo(new TracePoint(0, "rotary"));
        assertThat(first.position()).isOne();
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void enginesWithoutFaultAgree(DType dtype) {
        Program program = llama().program(32);
        Weights weights = RandomModels.weights(program, dtype, new RandomData(8));
        Comparison comparison = check(program, weights, new HostForwardPass(program, weights, new VectorOps(1), 3));
        assertThat(comparison.agrees()).as(comparison.first().toString()).isTrue();
        assertThat(comparison.points().values()).allMatch(each -> each.elements() > 0 && each.differing() == 0);
    }

    /** What a device does while it is traced is not what it does otherwise. */
    @Test
    void aTextThatIsRightOnlyWhereItIsTracedIsFound() {
        assertThat(checkText((logits, _) -> logits).first()).isEmpty();
        assertThat(checkText((logits, _) -> logits).points())
                .containsKeys(
                        new TracePoint(TraceListener.NO_LAYER, TracePoint.TEXT_LOGITS),
                        new TracePoint(TraceListener.NO_LAYER, TracePoint.TEXT_TOKEN));
        FirstDifference first = checkText((logits, position) -> {
                    if (position == PROMPT.length) {
                        logits[5] = Math.nextUp(logits[5]);
                    }
                    return logits;
                })
                .first()
                .orElseThrow();
        assertThat(first.step()).isOne();
        assertThat(first.point()).isEqualTo(new TracePoint(TraceListener.NO_LAYER, TracePoint.TEXT_LOGITS));
        assertThat(first.position()).isEqualTo(PROMPT.length);
        assertThat(first.index()).isEqualTo(5);
    }

    private static Comparison checkText(BiFunction<float[], Integer, float[]> fault) {
        Program program = llama().program(32);
        Weights weights = RandomModels.weights(program, DType.F32, new RandomData(7));
        try (ForwardPass reference = new HostForwardPass(program, weights, new VectorOps(1));
                ForwardPass traced = new HostForwardPass(program, weights, new VectorOps(2));
                ForwardPass text = new HostForwardPass(program, weights, new VectorOps(2), 3)) {
            EngineCheck check = new EngineCheck(
                    new EngineCheck.Subject("host", reference, Tolerance.EXACT),
                    List.of(new EngineCheck.Subject("other", traced, Tolerance.EXACT)),
                    false);
            Comparison comparison = check.run(PROMPT, 3).getFirst();
            check.runAsText(new Changed(text, fault), comparison);
            return comparison;
        }
    }

    /** A forward pass whose logits are changed, by position. */
    private record Changed(ForwardPass forward, BiFunction<float[], Integer, float[]> change) implements ForwardPass {
        @Override
        public Program program() {
            return forward.program();
        }

        @Override
        public float[] forward(int[] tokens, int firstPosition) {
            return change.apply(forward.forward(tokens, firstPosition), firstPosition + tokens.length - 1);
        }

        @Override
        public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void trace(TraceListener listener) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void unknownFaultsAreRefused() {
        assertThatThrownBy(() -> Fault.parse("gremlin")).hasMessageContaining("no fault is called 'gremlin'");
        assertThatThrownBy(() -> check(gpt2(), new Fault.OneUlp(0, "rotary"))).hasMessageContaining("no Op 'rotary'");
        assertThat(Fault.parse("ulp:1:qkvProj")).isEqualTo(new Fault.OneUlp(1, "qkvProj"));
        assertThat(Fault.parse("ulp:-1:lmHead")).isEqualTo(new Fault.OneUlp(-1, "lmHead"));
    }
}
