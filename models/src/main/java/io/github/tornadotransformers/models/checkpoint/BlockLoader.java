package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

/** Lays the blocks of a stored tensor {@code [columns][rows]} out in panels, which threads share. */
final class BlockLoader {
    private static final int PANEL = WeightLayout.PANEL;

    private BlockLoader() {}

    static void fill(BlockData target, TensorBytes tensor) {
        IntStream.range(0, Math.ceilDiv(target.columns(), PANEL))
                .parallel()
                .forEach(panel -> fillPanel(target, tensor, panel));
    }

    private static void fillPanel(BlockData target, TensorBytes tensor, int panel) {
        BlockFormat format = target.format();
        int first = panel * PANEL;
        int columns = Math.min(PANEL, target.columns() - first);
        int groups = target.rows() / format.groupRows();
        int columnBytes = Math.multiplyExact(groups, format.fileBytes());
        byte[] file = read(tensor, (long) first * columnBytes, Math.multiplyExact(columns, columnBytes));
        QuantizedGroup group = new QuantizedGroup(format);
        byte[] packed = new byte[format.groupBytes()];
        long to = panel * format.panelBytes(target.rows());
        for (int g = 0; g < groups; g++) {
            for (int c = 0; c < columns; c++) {
                group.read(file, c * columnBytes + g * format.fileBytes());
                group.pack(packed, c);
            }
            MemorySegment.copy(
                    packed, 0, target.data(), ValueLayout.JAVA_BYTE, to + (long) g * packed.length, packed.length);
        }
    }

    private static byte[] read(TensorBytes tensor, long offset, int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(bytes);
            tensor.read(offset, memory);
            return memory.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
