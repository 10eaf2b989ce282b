package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.CacheKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The memory of a forward pass: what its tasks ask for, and those that trace it, which a caller may want later. */
final class ForwardMemory {
    private final DeviceModel model;
    private final DeviceOptions options;
    private final MemoryPlan plan;

    /**
     * @param options with as many rows at once as will run
     * @throws DeviceException if only some layers have a weight
     */
    ForwardMemory(DeviceModel model, DeviceOptions options) {
        WeightsOfSomeLayers.refuse(model.program());
        this.model = model;
        this.options = options;
        this.plan = new MemoryPlan(
                options.device(),
                Stream.of(false, true)
                        .map(traced -> new GraphSet(model, options.graph(), options.prefillRows(), traced))
                        .flatMap(GraphSet::arrays));
    }

    MemoryPlan plan() {
        return plan;
    }

    /** @throws DeviceException if an array or all of them do not fit the device; says both figures and what would fit */
    void requireFits() {
        plan.requireFits(bytes -> "the model needs " + bytes + " in " + name(model.dtype()), this::advice);
    }

    private static String name(DType dtype) {
        return dtype.name().toLowerCase(Locale.ROOT);
    }

    private Wording advice() {
        for (DType narrower : List.of(DType.BF16, DType.INT8)) {
            if (narrower.bytes() < model.dtype().bytes() && with(narrower).plan.fits()) {
                return Wording.of("try %s %s", Term.DTYPE, name(narrower));
            }
        }
        long context = contextThatFits();
        return context > 0 ? Wording.of("try %s %d", Term.CONTEXT, context) : Wording.of("try %s host", Term.ENGINE);
    }

    /** One token at a time, as little as it can be. */
    private ForwardMemory with(DType dtype) {
        DeviceModel narrower = DeviceModel.of(model.program(), dtype, model.math(), options.device());
        return new ForwardMemory(narrower, options.withPrefillRows(1));
    }

    /** Positions whose cache fits beside everything else, a layer's in a buffer; 0 if a weight does not fit itself. */
    private long contextThatFits() {
        if (!plan.arrays().stream()
                .filter(array -> !(array.key() instanceof CacheKey))
                .allMatch(plan::fits)) {
            return 0;
        }
        Program program = model.program();
        DeviceInfo device = options.device();
        long left = device.memoryBytes() - (plan.bytes() - program.cacheBytes());
        long perPosition = Math.max(1, program.cacheBytes() / program.contextLength());
        long perLayer = program.attention().keyValueWidth() * (long) Float.BYTES;
        long most = Math.min(left / perPosition, (device.maxAllocationBytes() - 1) / perLayer);
        return Math.clamp(most, 0, program.contextLength() - 1L);
    }
}
