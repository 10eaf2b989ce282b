package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorBackwardOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.engines.Engine;
import io.github.tornadotransformers.runner.engines.VectorModule;
import picocli.CommandLine.Option;

/** The options that say what computes gradients. */
final class HostTraining {
    private static final int MAX_THREADS = 1024;

    @Option(
            names = {"-e", "--engine"},
            paramLabel = "ENGINE",
            description = "host (all cores; default) or scalar (one thread, the definition of right)")
    Engine engine = Engine.HOST;

    @Option(names = "--threads", paramLabel = "N", description = "threads of the host engine (default: all cores)")
    Integer threads;

    /**
     * Forward and backward Ops of one engine, which share their threads.
     *
     * @param forward to be closed
     */
    record Ops(HostOps forward, BackwardOps backward) implements AutoCloseable {
        @Override
        public void close() {
            forward.close();
        }
    }

    /** @throws Failure if the engine cannot train or a value is out of range */
    void requireSensible() {
        if (engine.onDevice()) {
            throw Failure.noEngine("-e " + engine + ": training runs on host and scalar");
        }
        if (threads != null && engine != Engine.HOST) {
            throw Failure.usage("--threads is for the engine host, and the engine is " + engine);
        }
        if (threads != null && (threads < 1 || threads > MAX_THREADS)) {
            throw Failure.usage("--threads is " + threads + ", expected 1 to " + MAX_THREADS);
        }
    }

    Ops open() {
        if (engine == Engine.SCALAR) {
            return new Ops(new ScalarOps(), new ScalarBackwardOps());
        }
        VectorModule.require();
        VectorOps forward = new VectorOps(threads == null ? Runtime.getRuntime().availableProcessors() : threads);
        return new Ops(forward, new VectorBackwardOps(forward));
    }
}
