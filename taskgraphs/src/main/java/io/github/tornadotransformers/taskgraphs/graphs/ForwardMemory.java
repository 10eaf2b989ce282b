package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.CacheKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The memory of a forward pass: what its tasks ask for, and those that trace it, which a caller may want later. */
final class ForwardMemory {
    private final DeviceModel model;
    private final DeviceOptions options;
    private final ChainRows rows;
    private final boolean isOfOne;
    private final MemoryPlan plan;

    private ForwardMemory(DeviceModel model, DeviceOptions options, boolean isOfOne) {
        WeightsOfSomeLayers.refuse(model.program());
        this.model = model;
        this.options = options;
        this.isOfOne = isOfOne;
        this.rows = isOfOne
                ? ChainRows.ofOne(model.program(), options.prefillRows())
                : ChainRows.ofBatches(model.program(), options.prefillRows());
        this.plan = new MemoryPlan(
                options.device(),
                Stream.of(false, true)
                        .map(traced -> new GraphSet(model, options.graph(), rows, traced))
                        .flatMap(GraphSet::arrays));
    }

    /**
     * For one sequence, of the program's context.
     *
     * @throws DeviceException if only some layers have a weight
     */
    static ForwardMemory ofOne(Program program, MatrixTypes types, DeviceOptions options) {
        int pages = AttentionShape.pages(program.contextLength());
        return new ForwardMemory(
                DeviceModel.of(program, types, options.kvType(), options.math(), options.device(), pages),
                options,
                true);
    }

    /**
     * For sequences that run together, whose caches have so many bytes, but a page at least.
     *
     * @throws DeviceException if only some layers have a weight
     */
    static ForwardMemory ofBatches(Program program, MatrixTypes types, DeviceOptions options, long cacheBytes) {
        int pages = Math.clamp(cacheBytes / pageBytes(program, options.kvType(), 1), 1, Integer.MAX_VALUE);
        return new ForwardMemory(
                DeviceModel.of(program, types, options.kvType(), options.math(), options.device(), pages),
                options,
                false);
    }

    /** Bytes of pages: keys and values of every layer. */
    static long pageBytes(Program program, KvType type, int pages) {
        return Math.multiplyExact(
                2L * type.bytes() * program.layers(), program.attention().cacheLayerSize(pages));
    }

    DeviceModel model() {
        return model;
    }

    DeviceOptions options() {
        return options;
    }

    ChainRows rows() {
        return rows;
    }

    MemoryPlan plan() {
        return plan;
    }

    /** @throws DeviceException if an array or all of them do not fit the device; says both figures and what would fit */
    void requireFits() {
        plan.requireFits(bytes -> "the model needs " + bytes + in(model.dtype()), this::advice);
    }

    private static String in(DType dtype) {
        return dtype == DType.STORED ? " as it is stored" : " in " + name(dtype);
    }

    private static String name(DType dtype) {
        return dtype.name().toLowerCase(Locale.ROOT);
    }

    private Wording advice() {
        for (DType narrower : List.of(DType.BF16, DType.INT8)) {
            if (model.dtype() != DType.STORED
                    && narrower.bytes() < model.dtype().bytes()
                    && with(narrower).plan.fits()) {
                return Wording.of("try %s %s", Term.DTYPE, name(narrower));
            }
        }
        long pages = pagesThatFit();
        if (!isOfOne && pages > 0) {
            long bytes = pageBytes(model.program(), model.kvType(), Math.toIntExact(pages));
            return Wording.of("give the key-value cache %s at most", ByteCount.binaryWords(bytes));
        }
        long context =
                Math.clamp(pages * AttentionShape.PAGE, 0, model.program().contextLength() - 1L);
        return context > 0 ? Wording.of("try %s %d", Term.CONTEXT, context) : Wording.of("try %s host", Term.ENGINE);
    }

    /** One token at a time, as little as it can be. */
    private ForwardMemory with(DType dtype) {
        DeviceModel narrower = DeviceModel.of(
                model.program(), MatrixTypes.of(dtype), model.kvType(), model.math(), options.device(), model.pages());
        return new ForwardMemory(narrower, options.withPrefillRows(1), isOfOne);
    }

    /** Pages that fit beside everything else, a layer's in a buffer; 0 if a weight does not fit itself. */
    private long pagesThatFit() {
        if (!plan.arrays().stream()
                .filter(array -> !(array.key() instanceof CacheKey<?>))
                .allMatch(plan::fits)) {
            return 0;
        }
        Program program = model.program();
        DeviceInfo device = options.device();
        long left = device.memoryBytes() - (plan.bytes() - pageBytes(program, model.kvType(), model.pages()));
        long layerPage = program.attention().cacheLayerSize(1);
        long inBuffer = Math.min(
                Integer.MAX_VALUE / layerPage,
                (device.maxAllocationBytes() - 1) / (layerPage * model.kvType().bytes()));
        return Math.clamp(left / pageBytes(program, model.kvType(), 1), 0, inBuffer);
    }

    /** Of pages that fit beside everything else. */
    long affordableCacheBytes() {
        return pageBytes(model.program(), model.kvType(), Math.toIntExact(pagesThatFit()));
    }
}
