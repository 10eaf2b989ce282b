package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.checkpoint.ColumnRun;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Bytes of matrices in memory, scales included.
 *
 * @param dtype of all
 * @param stored as {@code STORED}, those of all layers of a matrix, each tensor in what it is kept in
 */
public record MatrixBytes(DType dtype, Map<Weight, Long> stored) {
    public MatrixBytes {
        stored = Map.copyOf(stored);
    }

    /** Of matrices of one type. */
    public static MatrixBytes of(DType dtype) {
        return new MatrixBytes(dtype, Map.of());
    }

    /** Of a model's matrices. */
    public static MatrixBytes of(ModelSource model, Program program, DType dtype) {
        Map<Weight, Long> stored = new LinkedHashMap<>();
        for (Weight weight : program.weights()) {
            if (dtype == DType.STORED && weight.kind() == Weight.Kind.MATRIX) {
                stored.put(weight, storedBytes(model, weight));
            }
        }
        return new MatrixBytes(dtype, stored);
    }

    private static long storedBytes(ModelSource model, Weight weight) {
        long bytes = 0;
        for (int layer = 0; layer < weight.layers(); layer++) {
            for (ColumnRun run : model.columns(weight, layer)) {
                bytes += run.type().bytes(weight.rows(), run.columns());
            }
        }
        return bytes;
    }

    /** Of one layer; the mean where layers differ. */
    long layer(Weight weight) {
        return all(weight) / weight.layers();
    }

    /** Of all layers, of a weight of any kind. */
    long all(Weight weight) {
        if (weight.kind() == Weight.Kind.FLOAT32) {
            return WeightData.elementBytes(weight, DType.F32);
        }
        if (dtype == DType.STORED) {
            return stored.get(weight);
        }
        long scales = dtype == DType.INT8 ? WeightData.scaleBytes(weight) : 0;
        return WeightData.elementBytes(weight, dtype) + scales;
    }

    /** Of a weight that is looked up by itself, with its scale. */
    long element(Weight weight) {
        return switch (dtype) {
            case F32, BF16, F16 -> dtype.bytes();
            case INT8 -> dtype.bytes() + Float.BYTES;
            case STORED -> Math.ceilDiv(all(weight), weight.size());
        };
    }
}
