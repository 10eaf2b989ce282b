package io.github.tornadotransformers.benchmarks.gpu;

import java.util.List;
import java.util.Optional;

/**
 * A GPU by its published figures. Another one is a line in {@link #published}.
 *
 * @param name as users write it
 * @param launch from the end of a kernel's work to the beginning of the next one's
 * @param source of the figures
 */
public record Gpu(String name, Processors processors, Memory memory, Launch launch, String source) {
    /**
     * What computes. Each has four schedulers, which begin an instruction of 32 work items a cycle, and 65,536 registers.
     *
     * @param items that one holds at once
     * @param groups that one holds at once
     * @param hertz of the clock that latencies are given in
     */
    public record Processors(int count, int items, int groups, double hertz) {}

    /**
     * What is read.
     *
     * @param bytes that a model may fill
     * @param bytesPerSecond as published
     * @param attainable share of that which a sum over memory reaches
     * @param latency cycles until a load from memory arrives, where few are on their way
     * @param cacheLatency cycles until one from the cache arrives that all processors share
     * @param nearLatency cycles until one from a processor's own cache arrives
     */
    public record Memory(
            long bytes,
            double bytesPerSecond,
            double attainable,
            double latency,
            double cacheLatency,
            double nearLatency) {}

    /**
     * Seconds without work between two kernels.
     *
     * @param streamed where each is launched by itself, in a stream that is never empty
     * @param replayed where a driver replays a graph of them
     */
    public record Launch(double streamed, double replayed) {}

    private static final long GIGABYTE = 1_000_000_000L;
    private static final double GIGA = 1e9;

    /** STREAM reaches 85 to 93 % of these GPUs' figures. */
    private static final double ATTAINABLE = 0.9;

    /**
     * Kernels that do nothing, one after the other, on an H100: 2.1 microseconds in a stream, 1.3 in a CUDA graph (Hazy Research, "Look Ma, No Bubbles!", 2025);
     * the first is taken as 2. What TornadoVM adds on the host comes on top where it is more.
     */
    private static final Launch LAUNCH = new Launch(2e-6, 1.3e-6);

    private static final String MICROBENCHMARKS =
            "; latencies, and their clock, of arXiv:2402.13499, which measured an H100 PCIe, an A100 and an RTX 4090";

    /** In the order to list them. */
    public static List<Gpu> published() {
        return List.of(
                new Gpu(
                        "h200",
                        new Processors(132, 2048, 32, 1.755 * GIGA),
                        new Memory(141 * GIGABYTE, 4800 * GIGA, ATTAINABLE, 478.8, 263.0, 40.7),
                        LAUNCH,
                        "NVIDIA's H200 data sheet and H100 architecture paper: 132 SMs, 141 GB, 4.8 TB/s"
                                + MICROBENCHMARKS),
                new Gpu(
                        "h100",
                        new Processors(132, 2048, 32, 1.755 * GIGA),
                        new Memory(80 * GIGABYTE, 3350 * GIGA, ATTAINABLE, 478.8, 263.0, 40.7),
                        LAUNCH,
                        "NVIDIA's H100 data sheet (SXM): 132 SMs, 80 GB, 3.35 TB/s" + MICROBENCHMARKS),
                new Gpu(
                        "a100",
                        new Processors(108, 2048, 32, 1.41 * GIGA),
                        new Memory(80 * GIGABYTE, 2039 * GIGA, ATTAINABLE, 466.3, 261.5, 37.9),
                        LAUNCH,
                        "NVIDIA's A100 data sheet (SXM, 80 GB): 108 SMs, 2039 GB/s" + MICROBENCHMARKS),
                new Gpu(
                        "rtx4090",
                        new Processors(128, 1536, 24, 2.52 * GIGA),
                        new Memory(24 * GIGABYTE, 1008 * GIGA, ATTAINABLE, 541.5, 273.0, 43.4),
                        LAUNCH,
                        "NVIDIA's Ada GPU architecture paper: 128 SMs, 24 GB, 1008 GB/s" + MICROBENCHMARKS));
    }

    /** The one of a name. */
    public static Optional<Gpu> named(String name) {
        return published().stream().filter(gpu -> gpu.name.equals(name)).findFirst();
    }

    /** What a message offers. */
    public static List<String> names() {
        return published().stream().map(Gpu::name).toList();
    }
}
