package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.checkpoint.ColumnRun;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * In what the matrices of a program are kept.
 *
 * @param stored as {@code STORED}, each layer's columns of each matrix; none otherwise
 */
public record MatrixTypes(DType dtype, Map<Weight, List<List<ColumnRun>>> stored) {
    public MatrixTypes {
        stored = Map.copyOf(stored);
    }

    /** One type for all. */
    public static MatrixTypes of(DType dtype) {
        if (dtype == DType.STORED) {
            throw new IllegalArgumentException("tensors are of several types");
        }
        return new MatrixTypes(dtype, Map.of());
    }

    /** A type for all, or what the source has. */
    public static MatrixTypes of(Program program, DType dtype, WeightSource source) {
        if (dtype != DType.STORED) {
            return of(dtype);
        }
        Map<Weight, List<List<ColumnRun>>> stored = new LinkedHashMap<>();
        for (Weight weight : program.weights()) {
            if (weight.kind() == Weight.Kind.MATRIX) {
                stored.put(
                        weight,
                        IntStream.range(0, weight.layers())
                                .mapToObj(layer -> source.columns(weight, layer))
                                .toList());
            }
        }
        return new MatrixTypes(dtype, stored);
    }

    public boolean isStored(Weight weight) {
        return stored.containsKey(weight);
    }

    /** A layer's columns of a matrix whose tensors are kept as they are stored. */
    List<ColumnRun> runs(Weight weight, int layer) {
        return stored.get(weight).get(layer);
    }

    /** Words of a layer of such a matrix. */
    long words(Weight weight, int layer) {
        return runs(weight, layer).stream().mapToLong(run -> words(weight, run)).reduce(0, Math::addExact);
    }

    /** Floats of a layer of such a matrix. */
    long floats(Weight weight, int layer) {
        return runs(weight, layer).stream()
                .mapToLong(run -> floats(weight, run))
                .reduce(0, Math::addExact);
    }

    static long words(Weight weight, ColumnRun run) {
        return run.wordBytes(weight.rows()) / Integer.BYTES;
    }

    static long floats(Weight weight, ColumnRun run) {
        return run.floatBytes(weight.rows()) / Float.BYTES;
    }
}
