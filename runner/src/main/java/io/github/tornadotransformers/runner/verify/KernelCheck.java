package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every kernel of an engine by itself, against {@link ScalarOps}, over many shapes and values that hurt. Where infinite
 * intermediate values make a NaN, the engine must make one, too.
 */
public final class KernelCheck {
    /** A kernel in one weight type. */
    public record Kernel(String name, DType dtype) {
        /** The row of the result that an Op belongs to; none for one that writes nothing of its own or only copies. */
        static Optional<Kernel> of(Op op, DType dtype) {
            return switch (op) {
                case Op.CacheAppend _, Op.SelectRows _ -> Optional.empty();
                case Op.Linear _, Op.TokenEmbedding _ -> Optional.of(new Kernel(name(op), dtype));
                default -> Optional.of(new Kernel(name(op), DType.F32));
            };
        }

        /** What runs the Op, with what it does beside the plain case. */
        private static String name(Op op) {
            return switch (op) {
                case Op.TokenEmbedding embedding -> op.loop() + (embedding.scale() == 1f ? "" : ", scaled");
                case Op.RmsNorm norm ->
                    op.loop()
                            + (norm.isInPlace() ? " of groups" : "")
                            + (norm.residual().adds() ? " + residual" : "");
                case Op.Linear linear -> linear(linear);
                case Op.Rotary rotary -> op.loop() + (rotary.rotatesWholeHeads() ? "" : ", partial");
                case Op.AttentionScores scores -> op.loop() + window(scores.shape()) + cap(scores.scaling());
                case Op.Softmax softmax -> op.loop() + window(softmax.shape());
                case Op.AttentionOutput output -> op.loop() + window(output.shape());
                case Op.GatedMlp mlp -> op.loop() + ", " + mlp.activation();
                case Op.Scale scale -> op.loop() + cap(scale.scaling());
                case Op.PositionEmbedding _, Op.LayerNorm _, Op.CacheAppend _, Op.SelectRows _ -> op.loop();
            };
        }

        private static String linear(Op.Linear linear) {
            String activation = linear.activation() == Activation.NONE ? "" : " + bias, " + linear.activation();
            String residual = linear.addsToOutput() ? " + residual" : "";
            return linear.loop() + activation + residual + (linear.residual().scale() == 1f ? "" : ", scaled");
        }

        private static String window(AttentionShape shape) {
            return shape.window() < shape.contextLength() ? ", window" : "";
        }

        private static String cap(Scaling scaling) {
            return scaling.isCapped() ? ", cap" : "";
        }
    }

    /**
     * What a kernel's cases gave.
     *
     * @param cases how many shapes ran
     * @param firstRefused the first element that is wrong, and in which shape
     */
    public record Verdict(Kernel kernel, int cases, Differences differences, Optional<String> firstRefused) {
        public boolean agrees() {
            return firstRefused.isEmpty();
        }
    }

    private KernelCheck() {}

    /** @param engine under test; left open */
    public static List<Verdict> run(HostOps engine, Tolerance tolerance, long seed) {
        Map<Kernel, List<KernelCase>> byKernel = new LinkedHashMap<>();
        for (KernelCase each : KernelCase.all(seed)) {
            byKernel.computeIfAbsent(new Kernel(each.kernel(), each.dtype()), _ -> new ArrayList<>())
                    .add(each);
        }
        List<Verdict> verdicts = new ArrayList<>();
        try (ScalarOps oracle = new ScalarOps()) {
            byKernel.forEach((kernel, cases) -> verdicts.add(verdict(kernel, cases, oracle, engine, tolerance)));
        }
        return verdicts;
    }

    private static Verdict verdict(
            Kernel kernel, List<KernelCase> cases, HostOps oracle, HostOps engine, Tolerance tolerance) {
        Differences differences = new Differences(tolerance);
        Optional<String> first = Optional.empty();
        for (KernelCase each : cases) {
            float[] expected = each.run().on(oracle);
            float[] actual = each.run().on(engine);
            for (int i = 0; i < expected.length; i++) {
                if (!differences.compare(actual[i], expected[i])) {
                    first = first.isPresent() ? first : Optional.of(describe(each, i, expected[i], actual[i]));
                }
            }
        }
        return new Verdict(kernel, cases.size(), differences, first);
    }

    private static String describe(KernelCase each, int index, float expected, float actual) {
        return each.shape() + ", element " + index + ": " + actual + " instead of " + expected;
    }
}
