package io.github.tornadotransformers.taskgraphs.probe;

import io.github.tornadotransformers.kernels.ProbeKernels;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DevicePlan;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTask;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.graphs.TaskCall;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * Whether a device's arithmetic is the contract's: one kernel, built as all others are, computes each operation that they rely
 * on, on operands of which every fault gives another result.
 */
final class DeviceProbe {
    private static final PlannedArray<FloatArray> X = floats("x", ProbeTable.SIZE);
    private static final PlannedArray<FloatArray> Y = floats("y", ProbeTable.SIZE);
    private static final PlannedArray<FloatArray> Z = floats("z", ProbeTable.SIZE);
    private static final PlannedArray<IntArray> INTS = ints("ints", 2 * ProbeKernels.CASES);
    private static final PlannedArray<IntArray> WORDS = ints("words", ProbeTable.WORDS);
    private static final PlannedArray<ShortArray> PATTERNS =
            new PlannedArray<>(new NamedKey<>("patterns", ElementType.SHORT), ProbeKernels.CASES);
    private static final ConstantKey.Powers BF16_POWERS = new ConstantKey.Powers(WeightFormat.BF16);
    private static final ConstantKey.Powers F16_POWERS = new ConstantKey.Powers(WeightFormat.F16);
    private static final PlannedArray<FloatArray> TERMS = floats("terms", 2 * ProbeKernels.CASES * ProbeKernels.TERMS);
    private static final PlannedArray<FloatArray> FLOATS = floats("floats", ProbeTable.SIZE);
    private static final PlannedArray<IntArray> WHOLES = ints("wholes", ProbeTable.SIZE);

    private DeviceProbe() {}

    private static PlannedArray<FloatArray> floats(String name, long elements) {
        return new PlannedArray<>(NamedKey.floats(name), elements);
    }

    private static PlannedArray<IntArray> ints(String name, long elements) {
        return new PlannedArray<>(NamedKey.ints(name), elements);
    }

    /** @throws DeviceException if the kernel cannot be compiled, or does not run on the device */
    static ProbeResult run(DeviceInfo device) {
        long started = System.nanoTime();
        ProbeTable table = ProbeCases.table();
        DeviceGraph graph = graph();
        try (DeviceArrays arrays = new DeviceArrays(new MemoryPlan(device, graph.arrays()));
                DevicePlan plan = new DevicePlan(List.of(graph), arrays, device, (_, _) -> true)) {
            fill(arrays, X, table.x());
            fill(arrays, Y, table.y());
            fill(arrays, Z, table.z());
            fill(arrays, INTS, table.ints());
            fill(arrays, WORDS, table.words());
            fill(arrays, PATTERNS, table.patterns());
            fill(arrays, TERMS, table.terms());
            plan.execute(graph);
            float[] floats = FLOATS.in(arrays).toHeapArray();
            int[] wholes = WHOLES.in(arrays).toHeapArray();
            List<Finding> findings = judge(table.cases(), floats, wholes);
            return new ProbeResult(
                    findings, System.nanoTime() - started, plan.report().nanos());
        }
    }

    private static void fill(DeviceArrays arrays, PlannedArray<?> array, MemorySegment operands) {
        array.in(arrays).getSegment().copyFrom(operands);
    }

    /** The first finding of each fault, in the faults' order. */
    static List<Finding> judge(List<ProbeCase> cases, float[] floats, int[] wholes) {
        Map<Fault, Finding> findings = new EnumMap<>(Fault.class);
        for (ProbeCase each : cases) {
            each.judge(floats, wholes).ifPresent(finding -> findings.putIfAbsent(finding.fault(), finding));
        }
        return new ArrayList<>(findings.values());
    }

    private static DeviceGraph graph() {
        Set<ArrayKey<?>> results = Set.of(FLOATS.key(), WHOLES.key());
        List<DeviceTask> tasks = new ArrayList<>();
        new TaskCall("arithmetic", ProbeKernels.CASES, tasks::add)
                .calls(
                        ProbeKernels::arithmetic,
                        X,
                        Y,
                        Z,
                        INTS,
                        WORDS,
                        PATTERNS,
                        BF16_POWERS,
                        F16_POWERS,
                        TERMS,
                        FLOATS,
                        WHOLES);
        DeviceGraph graph = DeviceGraph.of("probe", tasks, results);
        graph.uses()
                .forEach(array ->
                        graph.move(results.contains(array) ? Movement.DOWNLOAD : Movement.UPLOAD_ONCE, array, true));
        return graph;
    }
}
