package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.engine.EngineKind;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What runs a benchmark. */
enum BenchmarkEngine {
    /** {@code ScalarOps}, one thread. */
    SCALAR,

    /** {@code VectorOps}, any number of threads. */
    HOST,

    /** The kernels that devices run, called as plain Java, one thread. */
    KERNELS,

    /** The default device of TornadoVM; the others are its backends. */
    TORNADO,
    OPENCL,
    PTX,
    SPIRV,
    CUDA,
    METAL;

    /** The engine of that name; empty for {@link #KERNELS}, which is none that runs models. */
    Optional<EngineKind> engine() {
        return Arrays.stream(EngineKind.values())
                .filter(each -> each.name().equals(name()))
                .findFirst();
    }

    boolean onDevice() {
        return engine().filter(EngineKind::onDevice).isPresent();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
