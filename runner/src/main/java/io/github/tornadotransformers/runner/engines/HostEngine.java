package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLoader;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.Arena;

/** The engines without TornadoVM: {@code host} on all cores, {@code scalar} as the definition of right. */
final class HostEngine {
    private HostEngine() {}

    @SuppressWarnings("MustBeClosedChecker") // the session closes the arena
    static EngineSession open(Checkpoint checkpoint, Program program, DType dtype, EngineSettings settings) {
        long started = System.nanoTime();
        int threads = settings.threads().orElseGet(() -> Runtime.getRuntime().availableProcessors());
        Arena arena = Arena.ofShared();
        Weights weights = WeightLoader.load(checkpoint, program, dtype, new ArenaAllocator(arena));
        boolean scalar = settings.engine() == Engine.SCALAR;
        ForwardPass forward = new HostForwardPass(program, weights, scalar ? new ScalarOps() : vectorOps(threads));
        String device = scalar ? "one thread" : threads == 1 ? "1 thread" : threads + " threads";
        return new EngineSession(forward, settings.engine(), device, dtype, System.nanoTime() - started, 0, arena);
    }

    private static HostOps vectorOps(int threads) {
        VectorModule.require();
        return new VectorOps(threads);
    }
}
