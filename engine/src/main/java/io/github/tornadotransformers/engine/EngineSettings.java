package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How an engine is to run a model.
 *
 * @param device {@code backend:index} of a TornadoVM device; empty: TornadoVM's default
 * @param dtype of the matrices in memory; empty: as the checkpoint stores them
 * @param context positions that a sequence can hold; empty: the smaller of the model's and 2048
 * @param threads of the host engine; empty: one a processor
 */
public record EngineSettings(
        EngineKind engine,
        Optional<String> device,
        MathMode math,
        Optional<DType> dtype,
        OptionalInt context,
        OptionalInt threads,
        GraphMode graph) {
    /** What an engine does when nothing else is said. */
    public static EngineSettings of(EngineKind engine) {
        return new EngineSettings(
                engine,
                Optional.empty(),
                MathMode.STRICT,
                Optional.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                GraphMode.LAYERED);
    }

    public EngineSettings withContext(int positions) {
        return new EngineSettings(engine, device, math, dtype, OptionalInt.of(positions), threads, graph);
    }

    public EngineSettings withThreads(int count) {
        return new EngineSettings(engine, device, math, dtype, context, OptionalInt.of(count), graph);
    }

    public EngineSettings withDType(DType type) {
        return new EngineSettings(engine, device, math, Optional.of(type), context, threads, graph);
    }
}
