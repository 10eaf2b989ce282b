package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What an engine needs of a model: its shape, and where its weights come from. */
public interface ModelSource {
    ModelConfig config();

    /** The smallest type in memory that keeps every matrix as it is. */
    DType storedDType();

    /**
     * Bytes of a program's weights in memory.
     *
     * @throws ArithmeticException if a {@code long} cannot hold them
     */
    default long weightBytes(Program program, DType dtype) {
        long bytes = 0;
        for (Weight weight : program.weights()) {
            if (dtype == DType.STORED && weight.kind() == Weight.Kind.MATRIX) {
                bytes = Math.addExact(bytes, storedBytes(weight));
                continue;
            }
            DType kept = weight.kind() == Weight.Kind.MATRIX ? dtype : DType.F32;
            bytes = Math.addExact(bytes, WeightData.elementBytes(weight, kept));
            if (kept == DType.INT8) {
                bytes = Math.addExact(bytes, WeightData.scaleBytes(weight));
            }
        }
        return bytes;
    }

    private long storedBytes(Weight weight) {
        long bytes = 0;
        for (int layer = 0; layer < weight.layers(); layer++) {
            for (ColumnRun run : columns(weight, layer)) {
                bytes = Math.addExact(bytes, run.type().bytes(weight.rows(), run.columns()));
            }
        }
        return bytes;
    }

    /** In what a layer of a matrix is kept as {@code STORED}. */
    List<ColumnRun> columns(Weight weight, int layer);

    /** The formats of matrices in blocks that are kept as {@code STORED}, those of most weights first. */
    default List<BlockFormat> formats() {
        Map<BlockFormat, Long> elements = new EnumMap<>(BlockFormat.class);
        for (Weight weight : config().weights()) {
            for (int layer = 0; weight.kind() == Weight.Kind.MATRIX && layer < weight.layers(); layer++) {
                for (ColumnRun run : columns(weight, layer)) {
                    if (run.type() instanceof ColumnType.Blocks blocks) {
                        elements.merge(blocks.format(), (long) weight.rows() * run.columns(), Long::sum);
                    }
                }
            }
        }
        return elements.keySet().stream()
                .sorted(Comparator.comparing(elements::get, Comparator.reverseOrder()))
                .toList();
    }

    /**
     * Brings the weights of a program into memory: stacked over layers, {@code [rows][columns]}.
     *
     * @param program one of {@link #config}'s
     * @param dtype of the matrices; weights of kind {@code FLOAT32} are float32 whatever it is
     * @return the weights, in memory of the allocator, which lives as long as the allocator says
     * @throws io.github.tornadotransformers.models.CheckpointException if they cannot be brought there
     */
    Weights load(Program program, DType dtype, WeightAllocator allocator);
}
