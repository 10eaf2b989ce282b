package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.stream.LongStream;

/**
 * A model of random weights, made in memory: the weights of a {@link RandomCheckpoint} of the same config and seed, stored as
 * float32, without its file.
 */
public record RandomModel(ModelConfig config, long seed) implements ModelSource {
    private static final ValueLayout.OfFloat FLOATS = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Elements that one thread makes at a time. */
    private static final int CHUNK = 1 << 16;

    @Override
    public DType storedDType() {
        return DType.F32;
    }

    /** As {@code STORED}, the tensors are in blocks of two formats by turns, as far as their rows are whole blocks. */
    @Override
    public Weights load(Program program, DType dtype, WeightAllocator allocator) {
        return dtype == DType.STORED
                ? new StoredLoader(this::columns, allocator).load(program, this::fill)
                : WeightLoader.load(program, dtype, allocator, this::fill);
    }

    private StoredColumns columns(StoredLoader loader, Weight weight, int layer, TensorPart part) {
        BlockFormat format = layer % 2 == 0 ? BlockFormat.Q4_0 : BlockFormat.Q8_0;
        if (weight.rows() % format.groupRows() != 0 || !part.transposed()) {
            return loader.plain(weight, layer, part, DType.F32, this::fill);
        }
        RandomTensor tensor = RandomCheckpoint.tensor(weight, part, layer, seed);
        int rows = weight.rows();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment file = arena.allocate((long) part.columns() * rows / format.groupRows() * format.fileBytes());
            ByteBuffer blocks = file.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            float[] inputs = new float[rows];
            for (int column = 0; column < part.columns(); column++) {
                tensor.read((long) column * rows, inputs, rows);
                int _ = GgufQuantizer.write(GgufTensorType.valueOf(format.name()), inputs, blocks);
            }
            return loader.blocks(weight, part, format, TensorBytes.of(file));
        }
    }

    private void fill(WeightData data, int layer, TensorPart part) {
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
