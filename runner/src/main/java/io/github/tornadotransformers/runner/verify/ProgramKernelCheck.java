package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * The kernels of a device as programs run them: random models of both families, of odd and of real widths, in every weight
 * type, compared Op by Op. A device keeps its arrays to itself, so a kernel gets what the kernels before it gave; after a
 * first difference others may follow from it.
 *
 * <p>What {@code cacheAppend} stores is seen in the scores and sums that read it.
 */
public final class ProgramKernelCheck {
    /** Opens a model on an engine. */
    @FunctionalInterface
    public interface Opener {
        EngineSession open(ModelSource model, DType dtype);
    }

    private static final List<ModelConfig> MODELS = List.of(
            new LlamaConfig(
                    new Sizes(263, 160, 130, 67, 2),
                    new Heads(3, 1, 10),
                    new Rope(10000, 10, new RopeScaling.None()),
                    1e-6f,
                    true,
                    false,
                    false),
            new Gpt2Config(new Sizes(257, 160, 768, 3072, 1), 12, 1e-5f, true, true),
            new LlamaConfig(
                    new Sizes(131, 64, 2048, 5632, 1),
                    new Heads(32, 4, 64),
                    new Rope(10000, 64, new RopeScaling.None()),
                    1e-5f,
                    false,
                    false,
                    true));

    /** Tokens at once, enough for the kernels that serve many rows; then as many one by one. */
    private static final int SINGLE_TOKENS = 3;

    private final Map<KernelCheck.Kernel, Tally> tallies = new LinkedHashMap<>();
    private final Function<DType, Tolerance> tolerance;

    private ProgramKernelCheck(Function<DType, Tolerance> tolerance) {
        this.tolerance = tolerance;
    }

    /** @param reference opens the oracle */
    public static List<KernelCheck.Verdict> run(
            Opener reference, Opener engine, Function<DType, Tolerance> tolerance, long seed) {
        return run(MODELS, reference, engine, tolerance, seed);
    }

    static List<KernelCheck.Verdict> run(
            List<ModelConfig> models,
            Opener reference,
            Opener engine,
            Function<DType, Tolerance> tolerance,
            long seed) {
        ProgramKernelCheck check = new ProgramKernelCheck(tolerance);
        for (DType dtype : DType.values()) {
            for (ModelConfig config : models) {
                ModelSource model = new RandomModel(config, seed);
                try (EngineSession expected = reference.open(model, dtype);
                        EngineSession actual = engine.open(model, dtype)) {
                    check.compare(config, dtype, expected, actual, seed);
                }
            }
        }
        List<KernelCheck.Verdict> verdicts = new ArrayList<>();
        check.tallies.forEach((kernel, tally) ->
                verdicts.add(new KernelCheck.Verdict(kernel, tally.models, tally.differences, tally.first)));
        return verdicts;
    }

    private void compare(ModelConfig config, DType dtype, EngineSession expected, EngineSession actual, long seed) {
        Map<String, KernelCheck.Kernel> kernels = new LinkedHashMap<>();
        for (Op op : expected.forward().program().ops()) {
            kernel(op, dtype).ifPresent(kernel -> kernels.put(op.name(), kernel));
        }
        kernels.values().stream().distinct().forEach(kernel -> tally(kernel, dtype).models++);
        Recorder reference = new Recorder(expected.forward(), true);
        Recorder engine = new Recorder(actual.forward(), true);
        int[] tokens = new SplittableRandom(seed)
                .ints(expected.forward().program().contextLength(), 0, config.vocabSize())
                .toArray();
        int together = tokens.length - SINGLE_TOKENS;
        for (int position = 0; position < tokens.length; ) {
            int count = position == 0 ? together : 1;
            int[] step = Arrays.copyOfRange(tokens, position, position + count);
            reference.forward(step, position);
            engine.forward(step, position);
            compareStep(config, kernels, reference.step(), engine.step());
            position += count;
        }
    }

    private void compareStep(
            ModelConfig config, Map<String, KernelCheck.Kernel> kernels, StepTrace expected, StepTrace actual) {
        expected.points().forEach((point, rows) -> {
            KernelCheck.Kernel kernel = kernels.get(point.op());
            if (kernel != null) {
                float[] found = actual.points().get(point).values();
                Tally tally = tallies.get(kernel);
                for (int i = 0; i < rows.values().length; i++) {
                    if (!tally.differences.compare(found[i], rows.values()[i]) && tally.first.isEmpty()) {
                        tally.first = Optional.of(config.modelType() + " of " + config.parameters() + " parameters, "
                                + point + ", position " + (rows.firstPosition() + i / rows.width()) + ", element "
                                + i % rows.width() + ": " + found[i] + " instead of " + rows.values()[i]);
                    }
                }
            }
        });
    }

    private Tally tally(KernelCheck.Kernel kernel, DType dtype) {
        return tallies.computeIfAbsent(kernel, _ -> new Tally(tolerance.apply(dtype)));
    }

    /** The row of the result that an Op belongs to; none for one that writes nothing of its own or only copies. */
    private static Optional<KernelCheck.Kernel> kernel(Op op, DType dtype) {
        return switch (op) {
            case Op.CacheAppend _, Op.SelectRows _ -> Optional.empty();
            case Op.Linear linear -> Optional.of(new KernelCheck.Kernel(linear(linear), dtype(linear.weight(), dtype)));
            default ->
                Optional.of(new KernelCheck.Kernel(op.loop(), op instanceof Op.TokenEmbedding ? dtype : DType.F32));
        };
    }

    private static String linear(Op.Linear linear) {
        if (linear.addsToOutput()) {
            return "linear + residual";
        }
        return linear.activation() == Activation.GELU_TANH ? "linear + bias, GELU" : "linear";
    }

    private static DType dtype(Weight weight, DType dtype) {
        return weight.kind() == Weight.Kind.MATRIX ? dtype : DType.F32;
    }

    /** What a kernel has given so far. */
    private static final class Tally {
        private final Differences differences;
        private int models;
        private Optional<String> first = Optional.empty();

        Tally(Tolerance tolerance) {
            differences = new Differences(tolerance);
        }
    }
}
