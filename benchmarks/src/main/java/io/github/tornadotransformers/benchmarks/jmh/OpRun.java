package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.OpCase;
import io.github.tornadotransformers.benchmarks.OpCases;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.kernels.Fused;
import io.github.tornadotransformers.models.EngineException;
import java.util.function.Consumer;

/**
 * An Op on an engine.
 *
 * @param fetch brings an array back from where the engine keeps its own copy
 */
record OpRun(OpCase op, String engine, HostOps ops, Consumer<float[]> fetch) implements Subject {
    static OpRun open(Case of) {
        OpCase op = cases(of.model()).open(key(of));
        if (of.engine() == BenchmarkEngine.KERNELS) {
            if (Fused.isForDevices()) {
                throw new EngineException("engine kernels is plain Java, where TornadoVM compiles for devices alone:"
                        + " run it without a device");
            }
            KernelOps kernels = new KernelOps();
            return new OpRun(op, of.engine().toString(), kernels, kernels::fetch);
        }
        EngineKind engine = of.engine().engine().orElseThrow();
        EngineSettings settings = EngineSettings.of(engine);
        settings = engine == EngineKind.HOST ? settings.withThreads(of.threads()) : settings;
        return new OpRun(op, of.engine().toString(), Engines.openOps(settings), _ -> {});
    }

    static OpCases cases(String model) {
        return new OpCases(Shapes.named(model));
    }

    static OpCases.Key key(Case of) {
        return new OpCases.Key(of.op(), of.pass().phase(), of.dtype());
    }

    @Override
    public void requireRight() {
        op.requireRight(engine, ops, fetch);
    }

    @Override
    public void run() {
        op.run(ops);
    }

    @Override
    public void close() {
        ops.close();
        op.close();
    }
}
