package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * The kernels of a device as programs run them: the random models that families offer, compared Op by Op: those of real
 * widths in every weight type, the small ones, which have all oddities, in turns of types, and one in blocks of every format. A device
 * keeps its arrays to itself, so a kernel gets what the kernels before it gave; after a first difference others may follow from it.
 *
 * <p>What {@code cacheAppend} stores is seen in the scores and sums that read it.
 */
public final class ProgramKernelCheck {
    /** Opens a model on an engine. */
    @FunctionalInterface
    public interface Opener {
        EngineSession open(ModelSource model, DType dtype);
    }

    /** Tokens at once, enough for the kernels that serve many rows; then as many one by one. */
    private static final int SINGLE_TOKENS = 3;

    /** Matrices whose rows are blocks of every format; those of queries, keys and values lie side by side. */
    private static final ModelConfig OF_BLOCKS = new LlamaConfig(
            new Sizes(131, 160, 256, 512, 2),
            new Heads(4, 2, 64),
            new Rope(10_000, 64, new RopeScaling.None()),
            1e-5f,
            true,
            false,
            false);

    private static final int FORMATS_SIDE_BY_SIDE = 3;

    private final Map<KernelCheck.Kernel, Tally> tallies = new LinkedHashMap<>();
    private final Function<DType, Tolerance> tolerance;

    private ProgramKernelCheck(Function<DType, Tolerance> tolerance) {
        this.tolerance = tolerance;
    }

    /** @param reference opens the oracle */
    public static List<KernelCheck.Verdict> run(
            Opener reference, Opener engine, Function<DType, Tolerance> tolerance, long seed) {
        return run(models(), reference, engine, tolerance, seed);
    }

    /** A model in one weight type. */
    record Typed(ModelConfig config, DType dtype, List<BlockFormat> formats) {
        Typed(ModelConfig config, DType dtype) {
            this(config, dtype, List.of(BlockFormat.Q8_0));
        }
    }

    static List<Typed> models() {
        List<Typed> models = new ArrayList<>();
        int turn = 0;
        for (ModelFamily<?> family : ModelFamilies.all()) {
            for (ModelConfig config : family.largerExamples()) {
                DType.OF_MATRICES.stream().forEach(dtype -> models.add(new Typed(config, dtype)));
            }
            for (ModelConfig config : family.examples()) {
                models.add(new Typed(config, DType.OF_MATRICES.get(turn++ % DType.OF_MATRICES.size())));
            }
        }
        for (int first = 0; first < BlockFormat.values().length; first += FORMATS_SIDE_BY_SIDE) {
            List<BlockFormat> formats = new ArrayList<>(List.of(BlockFormat.values()));
            Collections.rotate(formats, -first);
            models.add(new Typed(OF_BLOCKS, DType.STORED, formats));
        }
        return models;
    }

    static List<KernelCheck.Verdict> run(
            List<Typed> models, Opener reference, Opener engine, Function<DType, Tolerance> tolerance, long seed) {
        ProgramKernelCheck check = new ProgramKernelCheck(tolerance);
        for (Typed each : models) {
            ModelSource model = new RandomModel(each.config(), seed, each.formats());
            try (EngineSession expected = reference.open(model, each.dtype());
                    EngineSession actual = engine.open(model, each.dtype())) {
                check.compare(each.config(), each.dtype(), expected, actual, seed);
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
            KernelCheck.Kernel.of(op, dtype).ifPresent(kernel -> kernels.put(op.name(), kernel));
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
