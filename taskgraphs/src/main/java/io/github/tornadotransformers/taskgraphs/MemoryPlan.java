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
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

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
    private final DeviceInfo device;
    private final LayerGroups groups;
    private final Map<String, PlannedArray> arrays = new LinkedHashMap<>();

    private MemoryPlan(Program program, DType dtype, DeviceInfo device) {
        this.program = program;
        this.dtype = dtype;
        this.device = device;
        this.groups = LayerGroups.of(program.layers(), layersPerArray());
    }

    /** @param prefillRows tokens that run at once, at most; 1 for none but single ones */
    static MemoryPlan of(Program program, DType dtype, int prefillRows, DeviceInfo device) {
        MemoryPlan plan = new MemoryPlan(program, dtype, device);
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

    /** How many layers' weights and cache fit an array. */
    private long layersPerArray() {
        long most = layersPerArray(program.attention().cacheLayerSize(), Element.FLOAT);
        for (Weight weight : program.weights()) {
            if (isStacked(weight)) {
                most = Math.min(most, layersPerArray(weight.layerSize(), element(weight)));
            }
        }
        return most;
    }

    private long layersPerArray(long layerSize, Element element) {
        long bytes = device.maxAllocationBytes() - 1 - TornadoNativeArray.ARRAY_HEADER;
        return Math.min(Integer.MAX_VALUE, bytes / element.bytes()) / layerSize;
    }

    static boolean isStacked(Weight weight) {
        return weight.layers() > 1;
    }

    LayerGroups groups() {
        return groups;
    }

    private DType dtype(Weight weight) {
        return weight.kind() == Weight.Kind.MATRIX ? dtype : DType.F32;
    }

    private Element element(Weight weight) {
        return switch (dtype(weight)) {
            case F32 -> Element.FLOAT;
            case BF16, F16 -> Element.SHORT;
            case INT8 -> Element.BYTE;
        };
    }

    private void addWeight(Weight weight) {
        addLayers(weight.name(), element(weight), weight.layerSize(), isStacked(weight));
        if (dtype(weight) == DType.INT8) {
            long scales = WeightData.scaleBytes(weight) / Float.BYTES / weight.layers();
            addLayers(weight.name() + SCALES, Element.FLOAT, scales, isStacked(weight));
        }
    }

    private void addLayers(String name, Element element, long layerSize, boolean stacked) {
        if (stacked) {
            for (int group = 0; group < groups.count(); group++) {
                add(name + groups.suffix(group), element, Math.multiplyExact(layerSize, groups.layersOf(group)));
            }
        } else {
            add(name, element, layerSize);
        }
    }

    private void addShared(int prefillRows) {
        addLayers(KEYS, Element.FLOAT, program.attention().cacheLayerSize(), true);
        addLayers(VALUES, Element.FLOAT, program.attention().cacheLayerSize(), true);
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
    void requireFits() {
        for (PlannedArray array : arrays()) {
            if (array.elements() > Integer.MAX_VALUE) {
                throw new DeviceException("%s has %d elements, but TornadoVM's arrays hold %d at most: %s"
                        .formatted(array.name(), array.elements(), Integer.MAX_VALUE, advice()));
            }
        }
        PlannedArray largest = arrays().stream()
                .max(Comparator.comparingLong(PlannedArray::bytes))
                .orElseThrow();
        if (!fits(largest)) {
            throw new DeviceException("%s needs a buffer of %s, but %s allows less than %s for one: %s"
                    .formatted(
                            largest.name(),
                            gigabytes(largest.bytes()),
                            device,
                            gigabytes(device.maxAllocationBytes()),
                            advice()));
        }
        if (bytes() > device.memoryBytes()) {
            throw new DeviceException("the model needs %s in %s, but %s has %s: %s"
                    .formatted(
                            gigabytes(bytes()),
                            dtype.name().toLowerCase(Locale.ROOT),
                            device,
                            gigabytes(device.memoryBytes()),
                            advice()));
        }
    }

    private String advice() {
        for (DType narrower : List.of(DType.BF16, DType.INT8)) {
            if (narrower.bytes() < dtype.bytes()
                    && of(program, narrower, 1, device).fits()) {
                return "try --dtype " + narrower.name().toLowerCase(Locale.ROOT);
            }
        }
        long context = contextThatFits();
        return context > 0 ? "try --context " + context : "try -e host";
    }

    private boolean fits() {
        return bytes() <= device.memoryBytes() && arrays().stream().allMatch(this::fits);
    }

    private boolean fits(PlannedArray array) {
        return array.elements() <= Integer.MAX_VALUE && array.bytes() < device.maxAllocationBytes();
    }

    /** Positions whose cache fits beside everything else, a layer's in a buffer; 0 if a weight does not fit itself. */
    private long contextThatFits() {
        if (!arrays().stream().filter(array -> !isCache(array)).allMatch(this::fits)) {
            return 0;
        }
        long left = device.memoryBytes() - (bytes() - program.cacheBytes());
        long perPosition = Math.max(1, program.cacheBytes() / program.contextLength());
        long perLayer = program.attention().keyValueWidth() * (long) Float.BYTES;
        long most = Math.min(left / perPosition, (device.maxAllocationBytes() - 1) / perLayer);
        return Math.clamp(most, 0, program.contextLength() - 1L);
    }

    private static boolean isCache(PlannedArray array) {
        return array.name().startsWith(KEYS) || array.name().startsWith(VALUES);
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, bytes < 100_000_000 ? "%.4f GB" : "%.2f GB", bytes / 1e9);
    }
}
