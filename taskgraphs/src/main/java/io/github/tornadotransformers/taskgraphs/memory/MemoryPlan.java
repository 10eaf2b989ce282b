package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray.Element;
import java.util.List;
import java.util.Locale;

/** Every array of a forward pass, sized from the program before any is allocated. */
public final class MemoryPlan {
    public static final String KEYS = "keys";
    public static final String VALUES = "values";
    public static final String TOKENS = "tokens";
    public static final String STEP = "step";
    public static final String HEAD_STEP = "head.step";
    public static final String LAYER = "layer";
    public static final String SCALES = ".scales";

    /** Before the name of a weight or a buffer. */
    public static final String GRADIENT = "gradient.";

    /** Cosines, then sines. */
    public static final String ANGLES = ".angles";

    /** Slice sums of a linear layer. */
    public static final String SUMS = "sums";

    /** Slice sums of a norm: of elements or their squares, and of squared deviations. */
    public static final String NORM_SUMS = "normSums";

    public static final String NORM_DEVIATIONS = "normDeviations";

    /** Slice results of attention. */
    public static final String MAXIMA = "maxima";

    public static final String EXPONENTIAL_SUMS = "exponentialSums";
    public static final String OUTPUT_SUMS = "outputSums";

    /** Scores of a single row, where exponentials do not replace them. */
    public static final String RAW_SCORES = "rawScores";

    private final Program program;
    private final DType dtype;
    private final DeviceInfo device;
    private final ArrayPlan plan;

    private MemoryPlan(Program program, DType dtype, DeviceInfo device) {
        this.program = program;
        this.dtype = dtype;
        this.device = device;
        this.plan = new ArrayPlan(device, LayerGroups.of(program.layers(), layersPerArray()));
    }

    /** @param prefillRows tokens that run at once, at most; 1 for none but single ones */
    public static MemoryPlan of(Program program, DType dtype, int prefillRows, DeviceInfo device) {
        UnsupportedOps.refuse(program);
        MemoryPlan plan = new MemoryPlan(program, dtype, device);
        program.weights().forEach(plan::addWeight);
        plan.addShared(prefillRows);
        plan.addStage(Stage.DECODE, program.embedding(), 1);
        plan.addStage(Stage.DECODE, program.kinds().getFirst().ops(), 1);
        if (prefillRows > 1) {
            plan.addStage(Stage.PREFILL, program.embedding(), prefillRows);
            plan.addStage(Stage.PREFILL, program.kinds().getFirst().ops(), prefillRows);
        }
        plan.addStage(Stage.HEAD, program.head(), 1);
        return plan;
    }

    /** How many layers' weights and cache fit an array. */
    private long layersPerArray() {
        long most = ArrayPlan.layersPerArray(device, program.attention().cacheLayerSize(), Element.FLOAT);
        for (Weight weight : program.weights()) {
            if (ArrayPlan.isStacked(weight)) {
                most = Math.min(most, ArrayPlan.layersPerArray(device, weight.layerSize(), element(weight)));
            }
        }
        return most;
    }

    public LayerGroups groups() {
        return plan.groups();
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
        plan.addLayers(weight.name(), element(weight), weight.layerSize(), ArrayPlan.isStacked(weight));
        if (dtype(weight) == DType.INT8) {
            long scales = WeightData.scaleBytes(weight) / Float.BYTES / weight.layers();
            plan.addLayers(weight.name() + SCALES, Element.FLOAT, scales, ArrayPlan.isStacked(weight));
        }
    }

    private void addShared(int prefillRows) {
        plan.addLayers(KEYS, Element.FLOAT, program.attention().cacheLayerSize(), true);
        plan.addLayers(VALUES, Element.FLOAT, program.attention().cacheLayerSize(), true);
        plan.add(
                program.residual().name(),
                Element.FLOAT,
                Math.multiplyExact((long) prefillRows, program.residual().width()));
        plan.add(TOKENS, Element.INT, prefillRows);
        plan.add(STEP, Element.INT, Step.SIZE);
        plan.add(HEAD_STEP, Element.INT, Step.SIZE);
        plan.add(LAYER, Element.INT, 1);
    }

    private void addStage(Stage stage, List<Op> ops, long rows) {
        for (Op op : ops) {
            addBuffer(stage, op.output(), rows);
            plan.addScratch(stage, op, rows);
        }
    }

    /** The residual stream is there in any case. */
    public void addBuffer(Stage stage, Buffer buffer, long rows) {
        if (!buffer.equals(program.residual())) {
            plan.addLargest(stage.array(buffer.name()), Math.multiplyExact(rows, buffer.width()));
        }
    }

    public ArrayPlan plan() {
        return plan;
    }

    public long bytes() {
        return plan.bytes();
    }

    /** @throws DeviceException if an array or all of them do not fit the device; says both figures and what would fit */
    public void requireFits() {
        String type = dtype.name().toLowerCase(Locale.ROOT);
        plan.requireFits(bytes -> "the model needs " + bytes + " in " + type, this::advice);
    }

    private String advice() {
        for (DType narrower : List.of(DType.BF16, DType.INT8)) {
            if (narrower.bytes() < dtype.bytes()
                    && of(program, narrower, 1, device).plan.fits()) {
                return "try --dtype " + narrower.name().toLowerCase(Locale.ROOT);
            }
        }
        long context = contextThatFits();
        return context > 0 ? "try --context " + context : "try -e host";
    }

    /** Positions whose cache fits beside everything else, a layer's in a buffer; 0 if a weight does not fit itself. */
    private long contextThatFits() {
        if (!plan.arrays().stream().filter(array -> !isCache(array)).allMatch(plan::fits)) {
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
}
