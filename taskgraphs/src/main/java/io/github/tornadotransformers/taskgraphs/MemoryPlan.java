package io.github.tornadotransformers.taskgraphs;

import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.PlannedArray.Element;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Every array of a forward pass, sized from the program before any is allocated. */
final class MemoryPlan {
    static final String KEYS = "keys";
    static final String VALUES = "values";
    static final String TOKENS = "tokens";
    static final String STEP = "step";
    static final String HEAD_STEP = "head.step";
    static final String LAYER = "layer";
    static final String SCALES = ".scales";

    /** Cosines, then sines. */
    static final String ANGLES = ".angles";

    /** Slice sums of a linear layer. */
    static final String SUMS = "sums";

    /** Slice sums of a norm: of elements or their squares, and of squared deviations. */
    static final String NORM_SUMS = "normSums";

    static final String NORM_DEVIATIONS = "normDeviations";

    /** Slice results of attention. */
    static final String MAXIMA = "maxima";

    static final String EXPONENTIAL_SUMS = "exponentialSums";
    static final String OUTPUT_SUMS = "outputSums";

    /** Scores of a single row, where exponentials do not replace them. */
    static final String RAW_SCORES = "rawScores";

    private final Program program;
    private final DType dtype;
    private final Map<String, PlannedArray> arrays = new LinkedHashMap<>();

    private MemoryPlan(Program program, DType dtype) {
        this.program = program;
        this.dtype = dtype;
    }

    /** @param prefillRows tokens that run at once, at most; 1 for none but single ones */
    static MemoryPlan of(Program program, DType dtype, int prefillRows) {
        MemoryPlan plan = new MemoryPlan(program, dtype);
        program.weights().forEach(plan::addWeight);
        plan.addShared(prefillRows);
        plan.addStage(Stage.DECODE, program.embedding(), 1);
        plan.addStage(Stage.DECODE, program.block(), 1);
        if (prefillRows > 1) {
            plan.addStage(Stage.PREFILL, program.embedding(), prefillRows);
            plan.addStage(Stage.PREFILL, program.block(), prefillRows);
        }
        plan.addStage(Stage.HEAD, program.head(), 1);
        return plan;
    }

    private void addWeight(Weight weight) {
        DType type = weight.kind() == Weight.Kind.MATRIX ? dtype : DType.F32;
        Element element = switch (type) {
            case F32 -> Element.FLOAT;
            case BF16, F16 -> Element.SHORT;
            case INT8 -> Element.BYTE;
        };
        add(weight.name(), element, weight.size());
        if (type == DType.INT8) {
            add(weight.name() + SCALES, Element.FLOAT, WeightData.scaleBytes(weight) / Float.BYTES);
        }
    }

    private void addShared(int prefillRows) {
        long cache = Math.multiplyExact(program.attention().cacheLayerSize(), (long) program.layers());
        add(KEYS, Element.FLOAT, cache);
        add(VALUES, Element.FLOAT, cache);
        add(
                program.residual().name(),
                Element.FLOAT,
                Math.multiplyExact((long) prefillRows, program.residual().width()));
        add(TOKENS, Element.INT, prefillRows);
        add(STEP, Element.INT, Step.SIZE);
        add(HEAD_STEP, Element.INT, Step.SIZE);
        add(LAYER, Element.INT, 1);
    }

    private void addStage(Stage stage, List<Op> ops, long rows) {
        for (Op op : ops) {
            addOutput(stage, op.output(), rows);
            addScratch(stage, op, rows);
        }
    }

    private void addOutput(Stage stage, Buffer buffer, long rows) {
        if (!buffer.equals(program.residual())) {
            addLargest(stage.array(buffer.name()), Math.multiplyExact(rows, buffer.width()));
        }
    }

    private void addScratch(Stage stage, Op op, long rows) {
        switch (op) {
            case Op.LayerNorm norm -> {
                long sums = rows * Slices.count(norm.output().width());
                addLargest(stage.array(NORM_SUMS), sums);
                addLargest(stage.array(NORM_DEVIATIONS), sums);
            }
            case Op.RmsNorm norm ->
                addLargest(
                        stage.array(NORM_SUMS),
                        rows * Slices.count(norm.output().width()));
            case Op.Linear linear -> {
                long slices = rows * Slices.count(linear.weight().rows());
                addLargest(
                        stage.array(SUMS),
                        Math.multiplyExact(slices, linear.weight().columns()));
            }
            case Op.Rotary rotary ->
                addLargest(rotary.name() + ANGLES, 2L * rotary.table().cosines().length);
            case Op.AttentionScores scores
            when rows == 1 -> addLargest(stage.array(RAW_SCORES), scores.shape().scoresWidth());
            case Op.Softmax softmax -> {
                long slices = rows
                        * softmax.shape().heads()
                        * Slices.count(softmax.shape().contextLength());
                addLargest(stage.array(MAXIMA), slices);
                addLargest(stage.array(EXPONENTIAL_SUMS), slices);
            }
            case Op.AttentionOutput attention -> {
                AttentionShape shape = attention.shape();
                long slices = rows * Slices.count(shape.contextLength());
                addLargest(stage.array(OUTPUT_SUMS), Math.multiplyExact(slices, shape.queryWidth()));
            }
            case Op.TokenEmbedding _,
                    Op.PositionEmbedding _,
                    Op.CacheAppend _,
                    Op.AttentionScores _,
                    Op.SwiGlu _,
                    Op.SelectRows _ -> {}
        }
    }

    private void addLargest(String name, long elements) {
        PlannedArray known = arrays.get(name);
        if (known == null || known.elements() < elements) {
            add(name, Element.FLOAT, elements);
        }
    }

    private void add(String name, Element element, long elements) {
        arrays.put(name, new PlannedArray(name, element, elements));
    }

    Collection<PlannedArray> arrays() {
        return arrays.values();
    }

    long bytes() {
        return arrays().stream().mapToLong(PlannedArray::bytes).reduce(0, Math::addExact);
    }

    /** @throws DeviceException if an array or all of them do not fit the device; says both figures and what would fit */
    void requireFits(DeviceInfo device) {
        PlannedArray largest = arrays().stream()
                .max(Comparator.comparingLong(PlannedArray::bytes))
                .orElseThrow();
        for (PlannedArray array : arrays()) {
            if (array.elements() > Integer.MAX_VALUE) {
                throw new DeviceException("%s has %d elements, but TornadoVM's arrays hold %d at most: %s"
                        .formatted(array.name(), array.elements(), Integer.MAX_VALUE, advice(device)));
            }
        }
        if (largest.bytes() >= device.maxAllocationBytes()) {
            throw new DeviceException("%s needs a buffer of %s, but %s allows less than %s for one: %s"
                    .formatted(
                            largest.name(),
                            gigabytes(largest.bytes()),
                            device,
                            gigabytes(device.maxAllocationBytes()),
                            advice(device)));
        }
        if (bytes() > device.memoryBytes()) {
            throw new DeviceException("the model needs %s in %s, but %s has %s: %s"
                    .formatted(
                            gigabytes(bytes()),
                            dtype.name().toLowerCase(Locale.ROOT),
                            device,
                            gigabytes(device.memoryBytes()),
                            advice(device)));
        }
    }

    private String advice(DeviceInfo device) {
        for (DType narrower : List.of(DType.BF16, DType.INT8)) {
            if (narrower.bytes() < dtype.bytes() && fits(MemoryPlan.of(program, narrower, 1), device)) {
                return "try --dtype " + narrower.name().toLowerCase(Locale.ROOT);
            }
        }
        long context = contextThatFits(device);
        return context > 0 ? "try --context " + context : "try -e host";
    }

    private static boolean fits(MemoryPlan plan, DeviceInfo device) {
        return plan.bytes() <= device.memoryBytes() && plan.arrays().stream().allMatch(array -> fits(array, device));
    }

    private static boolean fits(PlannedArray array, DeviceInfo device) {
        return array.elements() <= Integer.MAX_VALUE && array.bytes() < device.maxAllocationBytes();
    }

    /** Positions whose cache fits beside the weights, keys and values each in a buffer of their own; 0 if none. */
    private long contextThatFits(DeviceInfo device) {
        List<PlannedArray> weights = program.weights().stream()
                .map(weight -> arrays.get(weight.name()))
                .toList();
        if (!weights.stream().allMatch(weight -> fits(weight, device))) {
            return 0;
        }
        long weightBytes = weights.stream().mapToLong(PlannedArray::bytes).sum();
        long activations = bytes() - weightBytes - program.cacheBytes();
        long left = device.memoryBytes() - weightBytes - activations;
        long forEach = Math.min(left / 2, device.maxAllocationBytes() - 1);
        long perPosition = Math.max(1, program.cacheBytes() / 2 / program.contextLength());
        return Math.clamp(forEach / perPosition, 0, program.contextLength() - 1L);
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, bytes < 100_000_000 ? "%.4f GB" : "%.2f GB", bytes / 1e9);
    }
}
