package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostInterpreter;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.host.WarmingOps;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.WeightPack;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.function.BiFunction;

/** The engines without TornadoVM: {@code host} on all cores, {@code scalar} as the definition of right. */
final class HostEngine {
    private HostEngine() {}

    static EngineSession open(ModelSource model, Program program, DType dtype, EngineSettings settings) {
        return open(model, program, dtype, settings, ops(settings));
    }

    /** @param ops closed with the session */
    static EngineSession open(ModelSource model, Program program, DType dtype, EngineSettings settings, HostOps ops) {
        return open(model, program, dtype, settings, (loaded, weights) -> forward(loaded, weights, ops, settings));
    }

    /** Plain loops until vectors are compiled. */
    static HostOps quickOps(ModelSource model, DType dtype, EngineSettings settings) {
        if (settings.engine() == EngineKind.SCALAR || Runtime.getRuntime().availableProcessors() == 1) {
            return ops(settings);
        }
        VectorModule.require();
        return WarmingOps.of(model, dtype, threads(settings));
    }

    private static ForwardPass forward(Program program, Weights weights, HostOps ops, EngineSettings settings) {
        long cacheBytes = HostMemory.cacheBytes(program, settings);
        return new HostForwardPass(new HostInterpreter(program, weights, ops, settings.kvType(), cacheBytes));
    }

    /** @param interpreter makes the forward pass */
    @SuppressWarnings("MustBeClosedChecker") // the session closes the arena
    static EngineSession open(
            ModelSource model,
            Program program,
            DType dtype,
            EngineSettings settings,
            BiFunction<Program, Weights, ForwardPass> interpreter) {
        long started = System.nanoTime();
        Arena arena = Arena.ofShared();
        Weights weights = load(model, program, dtype, settings, arena);
        ForwardPass forward = interpreter.apply(program, weights);
        return new EngineSession(
                forward,
                forward instanceof HostForwardPass host ? Optional.of(host.engine()) : Optional.empty(),
                settings.engine(),
                device(settings),
                dtype,
                settings.kvType(),
                System.nanoTime() - started,
                () -> EngineSession.Compiled.NOTHING,
                arena);
    }

    /** Only a checkpoint's weights are worth a file. */
    private static Weights load(ModelSource model, Program program, DType dtype, EngineSettings settings, Arena arena) {
        if (settings.packs().isPresent() && model instanceof Checkpoint checkpoint) {
            return WeightPack.in(settings.packs().get(), checkpoint, program, dtype, WeightLayout.PANELS)
                    .load(arena, settings.packNotices());
        }
        return model.load(program, dtype, new ArenaAllocator(arena, WeightLayout.PANELS));
    }

    private static String device(EngineSettings settings) {
        int threads = threads(settings);
        return settings.engine() == EngineKind.SCALAR ? "one thread" : threads == 1 ? "1 thread" : threads + " threads";
    }

    private static int threads(EngineSettings settings) {
        return settings.threads().orElseGet(() -> Runtime.getRuntime().availableProcessors());
    }

    static HostOps ops(EngineSettings settings) {
        if (settings.engine() == EngineKind.SCALAR) {
            return new ScalarOps();
        }
        VectorModule.require();
        return new VectorOps(threads(settings));
    }
}
