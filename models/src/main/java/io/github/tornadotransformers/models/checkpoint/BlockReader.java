package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** A tensor in a block format, as the bytes of float32 elements. Several threads may read at the same time. */
record BlockReader(BlockFormat format, TensorBytes blocks) implements TensorBytes {
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public void read(long offset, MemorySegment to) {
        long first = offset / Float.BYTES;
        long end = first + to.byteSize() / Float.BYTES;
        int rows = format.groupRows();
        long firstGroup = first / rows;
        long groups = Math.ceilDiv(end, (long) rows) - firstGroup;
        QuantizedGroup group = new QuantizedGroup(format);
        float[] elements = new float[rows];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(groups * format.fileBytes());
            blocks.read(firstGroup * format.fileBytes(), memory);
            byte[] file = memory.toArray(ValueLayout.JAVA_BYTE);
            for (int each = 0; each < groups; each++) {
                group.read(file, each * format.fileBytes());
                group.widen(elements, 0);
                long start = (firstGroup + each) * rows;
                int from = (int) Math.max(0, first - start);
                int until = (int) Math.min(rows, end - start);
                MemorySegment.copy(elements, from, to, FLOATS, (start + from - first) * Float.BYTES, until - from);
            }
        }
    }
}
