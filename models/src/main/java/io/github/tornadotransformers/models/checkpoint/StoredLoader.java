package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Consumer;

/**
 * Brings tensors into memory, each matrix in the type in which it is stored: those of a weight apart, or, row-major, with their neighbours
 * of the same type.
 */
record StoredLoader(Source source, WeightAllocator allocator) {
    /** Where tensors come from. */
    interface Source {
        /** In what a part of a matrix is kept. */
        ColumnType type(Weight weight, int layer, TensorPart part);

        /** Opens a part that is in blocks, {@code [columns][rows]}. */
        void readBlocks(Weight weight, int layer, TensorPart part, Consumer<TensorBytes> to);

        /** Fills columns of a layer with a part that is in numbers. */
        void fill(WeightData data, int layer, TensorPart part);

        default void fillAll(WeightData data) {
            WeightLoader.fillAll(data, this::fill);
        }
    }

    /** For memory that is filled already. */
    private record Filled(Source source) implements Source {
        @Override
        public ColumnType type(Weight weight, int layer, TensorPart part) {
            return source.type(weight, layer, part);
        }

        @Override
        public void readBlocks(Weight weight, int layer, TensorPart part, Consumer<TensorBytes> to) {
            // They are there.
        }

        @Override
        public void fill(WeightData data, int layer, TensorPart part) {
            // They are there.
        }

        @Override
        public void fillAll(WeightData data) {
            // They are there.
        }
    }

    /** The weights as memory has them that the allocator gives; nothing is read or written. */
    Weights allocate(Program program) {
        return new StoredLoader(new Filled(source), allocator).load(program);
    }

    Weights load(Program program) {
        SequencedMap<Weight, WeightData> vectors = new LinkedHashMap<>();
        SequencedMap<Weight, List<List<StoredColumns>>> matrices = new LinkedHashMap<>();
        for (Weight weight : program.weights()) {
            if (weight.kind() == Weight.Kind.FLOAT32) {
                WeightData data = WeightLoader.allocate(weight, DType.F32, WeightLayout.ROW_MAJOR, allocator);
                source.fillAll(data);
                vectors.put(weight, data);
            } else {
                matrices.put(weight, layers(weight));
            }
        }
        return new Weights(vectors, matrices);
    }

    List<List<StoredColumns>> layers(Weight weight) {
        List<List<StoredColumns>> layers = new ArrayList<>();
        for (int layer = 0; layer < weight.layers(); layer++) {
            layers.add(allocator.layout() == WeightLayout.PANELS ? apart(weight, layer) : together(weight, layer));
        }
        return layers;
    }

    private List<StoredColumns> apart(Weight weight, int layer) {
        List<StoredColumns> columns = new ArrayList<>();
        for (TensorPart part : weight.parts()) {
            ColumnRun alone = new ColumnRun(part.firstColumn(), part.columns(), source.type(weight, layer, part));
            columns.add(
                    switch (alone.type()) {
                        case ColumnType.Plain plain -> plain(weight, layer, alone, plain.dtype());
                        case ColumnType.Blocks blocks -> panels(weight, layer, part, blocks.format());
                    });
        }
        return List.copyOf(columns);
    }

    private List<StoredColumns> together(Weight weight, int layer) {
        List<StoredColumns> columns = new ArrayList<>();
        for (ColumnRun run : ColumnRun.of(weight, part -> source.type(weight, layer, part))) {
            columns.add(
                    switch (run.type()) {
                        case ColumnType.Plain plain -> plain(weight, layer, run, plain.dtype());
                        case ColumnType.Blocks blocks -> words(weight, layer, run, blocks.format());
                    });
        }
        return List.copyOf(columns);
    }

    private StoredColumns panels(Weight weight, int layer, TensorPart part, BlockFormat format) {
        MemorySegment memory = allocator.allocate(weight.name(), format.bytes(weight.rows(), part.columns()));
        BlockData data = new BlockData(format, weight.rows(), part.columns(), memory);
        source.readBlocks(weight, layer, part, tensor -> BlockLoader.fill(data, tensor));
        return new StoredColumns.Blocks(part.firstColumn(), data);
    }

    private StoredColumns words(Weight weight, int layer, ColumnRun run, BlockFormat format) {
        int rows = weight.rows();
        long columnBytes = (long) run.columns() * Integer.BYTES;
        MemorySegment words = allocator.allocate(weight.name(), run.wordBytes(rows));
        MemorySegment floats = allocator.allocate(WeightAllocator.scalesOf(weight), run.floatBytes(rows));
        BlockWords data = new BlockWords(
                format,
                rows,
                run.columns(),
                words.asSlice(0, format.columnWords(rows) * columnBytes),
                floats.asSlice(0, format.columnFloats(rows) * columnBytes));
        for (TensorPart part : parts(weight, run)) {
            int first = part.firstColumn() - run.firstColumn();
            source.readBlocks(weight, layer, part, tensor -> BlockLoader.fill(data, first, part.columns(), tensor));
        }
        return new StoredColumns.Words(run.firstColumn(), data);
    }

    private static List<TensorPart> parts(Weight weight, ColumnRun run) {
        return weight.parts().stream()
                .filter(part -> part.firstColumn() >= run.firstColumn() && part.firstColumn() < run.endColumn())
                .toList();
    }

    /** As a weight of one layer that has these columns alone. */
    private StoredColumns plain(Weight weight, int layer, ColumnRun run, DType dtype) {
        List<TensorPart> parts = parts(weight, run).stream()
                .map(part -> new TensorPart(
                        part.tensorName(layer),
                        part.firstColumn() - run.firstColumn(),
                        part.columns(),
                        part.transposed(),
                        part.offset()))
                .toList();
        Weight alone = new Weight(weight.name(), 1, weight.rows(), run.columns(), weight.kind(), parts);
        WeightData data =
                new WeightData(alone, dtype, allocator.layout(), List.of(numbers(alone, run, dtype)), List.of());
        source.fillAll(data);
        return new StoredColumns.Plain(run.firstColumn(), data);
    }

    private MemorySegment numbers(Weight alone, ColumnRun run, DType dtype) {
        long bytes = WeightData.elementBytes(alone, dtype);
        if (allocator.layout() == WeightLayout.PANELS) {
            return allocator.allocate(alone.name(), bytes);
        }
        MemorySegment memory = dtype == DType.F32
                ? allocator.allocate(WeightAllocator.scalesOf(alone), run.floatBytes(alone.rows()))
                : allocator.allocate(alone.name(), run.wordBytes(alone.rows()));
        return memory.asSlice(0, bytes);
    }
}
