package io.github.tornadotransformers.benchmarks.gpu;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTask;
import io.github.tornadotransformers.taskgraphs.graphs.TokenTasks;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a GPU takes for one token of one sequence.
 *
 * @param position of the token: so many are before it
 * @param graphs that are executed
 * @param fits whether what tasks work on fits the GPU's memory
 * @param kernels in running order
 */
public record TokenPrediction(
        String model,
        DType dtype,
        Gpu gpu,
        Backend backend,
        int position,
        int graphs,
        boolean fits,
        List<PredictedKernel> kernels) {
    private static final int MOST_GROUP_ITEMS = 1024;

    public TokenPrediction {
        kernels = List.copyOf(kernels);
    }

    /** How kernels are written. */
    public enum Shape {
        /** For a GPU: groups of work items. */
        GROUPS(DeviceInfo.Kind.GPU),

        /** Plain loops, an item an element, as a CPU has them, and a GPU had before. */
        LOOPS(DeviceInfo.Kind.CPU);

        private final DeviceInfo.Kind kind;

        Shape(DeviceInfo.Kind kind) {
            this.kind = kind;
        }
    }

    /**
     * @param name of the model
     * @param dtype of its matrices, or {@code STORED}
     * @param backend whose code is compiled
     * @param context positions that the cache has; the token is at the last one of them or before
     */
    public static TokenPrediction of(
            String name,
            ModelSource model,
            DType dtype,
            Gpu gpu,
            Backend backend,
            Shape shape,
            int context,
            int position) {
        Program program = model.config().program(context);
        MatrixTypes types = MatrixTypes.of(program, dtype, WeightSource.of(model, program, dtype));
        DeviceInfo device = device(gpu, backend, shape);
        Map<DeviceGraph, Integer> graphs = TokenTasks.of(program, types, DeviceOptions.of(device));
        double launch =
                replays(backend, shape) ? gpu.launch().replayed() : gpu.launch().streamed();
        Map<List<String>, PredictedKernel> kernels = new LinkedHashMap<>();
        graphs.forEach((graph, times) -> graph.tasks().forEach(task -> {
            PredictedKernel kernel = kernel(task, times, gpu, launch, backend, position);
            kernels.merge(List.of(kernel.task(), kernel.kernel()), kernel, PredictedKernel::plus);
        }));
        int executed = graphs.values().stream().mapToInt(Integer::intValue).sum();
        boolean fits = new MemoryPlan(device, graphs.keySet().stream().flatMap(DeviceGraph::arrays)).fits();
        return new TokenPrediction(name, dtype, gpu, backend, position, executed, fits, List.copyOf(kernels.values()));
    }

    /** A GPU has loops as it had them before: each launched by itself. */
    private static boolean replays(Backend backend, Shape shape) {
        return shape == Shape.GROUPS && backend.replaysGraphs();
    }

    private static DeviceInfo device(Gpu gpu, Backend backend, Shape shape) {
        long memory = gpu.memory().bytes();
        return new DeviceInfo(
                new DeviceId(0, 0), backend, shape.kind, gpu.name(), "", memory, memory, MOST_GROUP_ITEMS, true, true);
    }

    private static PredictedKernel kernel(
            DeviceTask task, int launches, Gpu gpu, double launch, Backend backend, int position) {
        KernelWork work = KernelWorks.of(task, backend, position);
        KernelTime time = KernelTime.of(work, gpu, launch);
        return new PredictedKernel(
                task.id(),
                task.kernelName(),
                launches,
                task.items(),
                work.inFlight(),
                launches * work.memoryBytes(),
                launches * work.instructions() * work.active(),
                launches * time.seconds(),
                launches * time.launchSeconds(),
                time.bound());
    }

    public int launches() {
        return kernels.stream().mapToInt(PredictedKernel::launches).sum();
    }

    public long memoryBytes() {
        return kernels.stream().mapToLong(PredictedKernel::memoryBytes).sum();
    }

    /** Of the device: one kernel after the other, and no host that is late. */
    public double seconds() {
        return kernels.stream().mapToDouble(PredictedKernel::seconds).sum();
    }

    public double launchSeconds() {
        return kernels.stream().mapToDouble(PredictedKernel::launchSeconds).sum();
    }

    public double tokensPerSecond() {
        return 1 / seconds();
    }

    /** The same where each kernel is launched by itself. */
    public double streamedTokensPerSecond() {
        return 1 / (seconds() - launchSeconds() + launches() * gpu.launch().streamed());
    }

    /** The part of the published bandwidth that a token reads with. */
    public double share() {
        return memoryBytes() / seconds() / gpu.memory().bytesPerSecond();
    }
}
