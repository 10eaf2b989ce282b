package io.github.tornadotransformers.benchmarks;

import java.util.List;

/**
 * A machine by its published figures.
 *
 * @param memoryBytes that a model may fill
 * @param source of the figures
 */
public record Machine(String name, long memoryBytes, Limits limits, String source) {
    private static final double GIGA = 1e9;
    private static final double TERA = 1e12;
    private static final long GIGABYTE = 1_000_000_000L;

    /**
     * Machines to plan with. A published float32 figure counts a fused product and sum as two operations, as {@link OpCost} does.
     */
    public static List<Machine> published() {
        return List.of(
                new Machine(
                        "16-core server (EPYC 9124)",
                        384 * GIGABYTE,
                        new Limits(16, 460.8 * GIGA, 16 * 32 * 3.0 * GIGA),
                        "AMD's product page: 12 channels of DDR5-4800, 16 cores at 3.0 GHz; Zen 4: 16 fused"
                                + " products and sums of float32 a cycle"),
                new Machine(
                        "RTX 4090",
                        24 * GIGABYTE,
                        new Limits(0, 1008 * GIGA, 82.6 * TERA),
                        "NVIDIA's Ada GPU architecture paper: 1008 GB/s, 82.6 TFLOPS of float32"),
                new Machine(
                        "H200",
                        141 * GIGABYTE,
                        new Limits(0, 4800 * GIGA, 67 * TERA),
                        "NVIDIA's H200 data sheet: 141 GB, 4.8 TB/s, 67 TFLOPS of float32"));
    }
}
