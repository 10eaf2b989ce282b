package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The Ops of a model as it runs them: a token at a late position, or a chunk of a prompt that ends there. */
public final class OpCases {
    /** Positions that attention looks back on, if the model has so many. */
    public static final int POSITIONS = 1000;

    /** What the cache is laid out for. */
    private static final int CONTEXT = 1024;

    private final ModelConfig config;
    private final Program program;
    private final long cacheBytes;

    public OpCases(ModelConfig config) {
        this(config, CpuCaches.lastLevelBytes());
    }

    OpCases(ModelConfig config, long cacheBytes) {
        this.config = config;
        this.program = config.program(Math.min(config.contextLength(), CONTEXT));
        this.cacheBytes = cacheBytes;
    }

    /**
     * What is run.
     *
     * @param op its name; with a window of attention in it, where there is one
     */
    public record Key(String op, BenchTest.Phase phase, DType dtype) {}

    /**
     * @param ops their names, with windows or without; all in running order where there is none, those of a kind of block once
     * @param dtypes for the Ops with a matrix; the others run once
     * @throws InvalidRequest if no Op of the model has such a name
     */
    public List<Key> keys(List<BenchTest.Phase> phases, List<String> ops, List<DType> dtypes) {
        ops.forEach(this::op);
        List<Key> keys = new ArrayList<>();
        for (BenchTest.Phase phase : phases) {
            for (Op op : program.ops()) {
                if (runsIn(op, phase) && (ops.isEmpty() || ops.stream().anyMatch(name -> isCalled(op, name)))) {
                    List<DType> kept = OpShape.hasMatrix(op) ? dtypes : List.of(DType.F32);
                    kept.forEach(dtype -> keys.add(new Key(OpShape.name(op), phase, dtype)));
                }
            }
        }
        return keys.stream().distinct().toList();
    }

    /** What the case of a key runs, without its weights. */
    public OpShape shape(Key key) {
        int positions = Math.min(POSITIONS, program.contextLength());
        int rows = key.phase() == BenchTest.Phase.DECODE ? 1 : Math.min(ProgramCost.CHUNK_ROWS, positions);
        MatrixBytes matrices = MatrixBytes.of(OpCase.model(config), program, key.dtype());
        return OpShape.of(program, op(key.op()), matrices, rows, positions - rows, cacheBytes);
    }

    public OpCase open(Key key) {
        return new OpCase(config, program, shape(key));
    }

    private Op op(String name) {
        return loops().filter(op -> OpShape.name(op).equals(name))
                .findFirst()
                .or(() -> loops().filter(op -> op.name().equals(name)).findFirst())
                .orElseThrow(() -> new InvalidRequest("the model has no Op '" + name + "', expected one of "
                        + loops().map(OpShape::name).distinct().collect(Collectors.joining(", "))));
    }

    private static boolean isCalled(Op op, String name) {
        return op.name().equals(name) || OpShape.name(op).equals(name);
    }

    /** The Ops that engines have a loop for. */
    private Stream<Op> loops() {
        return program.ops().stream().filter(op -> !(op instanceof Op.SelectRows));
    }

    /** The head runs on one row whatever the phase is. */
    private static boolean runsIn(Op op, BenchTest.Phase phase) {
        return !(op instanceof Op.SelectRows)
                && (phase == BenchTest.Phase.DECODE || op.output().extent() == Buffer.Extent.ALL_ROWS);
    }
}
