package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/**
 * Tensors of random weights, from a seed. As they are stored they are in blocks of random bits, as far as their rows are whole blocks;
 * otherwise float32, as a {@link RandomCheckpoint} has them.
 *
 * @param formats of blocks, which tensors and layers have by turns
 */
public record RandomTensors(long seed, List<BlockFormat> formats) implements StoredLoader.Source {
    private static final ValueLayout.OfFloat FLOATS = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Elements that one thread makes at a time. */
    private static final int CHUNK = 1 << 16;

    public RandomTensors {
        formats = List.copyOf(formats);
    }

    /** A matrix as it is stored. */
    public Weights load(Weight matrix, WeightAllocator allocator) {
        return new Weights(Map.of(), Map.of(matrix, new StoredLoader(this, allocator).layers(matrix)));
    }

    @Override
    public ColumnType type(Weight weight, int layer, TensorPart part) {
        int turn = layer + weight.parts().indexOf(part);
        BlockFormat format = formats.get(turn % formats.size());
        return part.transposed() && weight.rows() % format.groupRows() == 0
                ? new ColumnType.Blocks(format)
                : new ColumnType.Plain(DType.F32);
    }

    @Override
    public void readBlocks(Weight weight, int layer, TensorPart part, Consumer<TensorBytes> to) {
        BlockFormat format = ((ColumnType.Blocks) type(weight, layer, part)).format();
        long own = seed + part.tensorName(layer).hashCode();
        try (Arena arena = Arena.ofShared()) {
            long groups = (long) part.columns() * weight.rows() / format.groupRows();
            RandomBlocks blocks = new RandomBlocks(format, own, 1 / Math.sqrt(weight.rows()));
            to.accept(TensorBytes.of(blocks.bytes(arena, groups)));
        }
    }

    @Override
    public void fill(WeightData data, int layer, TensorPart part) {
        Weight weight = data.weight();
        RandomTensor tensor = RandomCheckpoint.tensor(weight, part, layer, seed);
        long elements = Math.multiplyExact((long) weight.rows(), (long) part.columns());
        try (Arena arena = Arena.ofShared()) {
            MemorySegment values = arena.allocate(Math.multiplyExact(elements, (long) Float.BYTES), Float.BYTES);
            LongStream chunks = LongStream.range(0, Math.ceilDiv(elements, (long) CHUNK));
            (elements > CHUNK ? chunks.parallel() : chunks).forEach(chunk -> write(tensor, chunk * CHUNK, values));
            long _ = WeightLoader.copy(
                    StoredType.F32, TensorBytes.of(values), data, layer, part); // all are near 1: none overflows
        }
    }

    private static void write(RandomTensor tensor, long first, MemorySegment values) {
        long elements = values.byteSize() / Float.BYTES;
        float[] chunk = new float[(int) Math.min(CHUNK, elements - first)];
        tensor.read(first, chunk, chunk.length);
        MemorySegment.copy(chunk, 0, values, FLOATS, first * Float.BYTES, chunk.length);
    }
}
