package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

/** Lays the blocks of a stored tensor {@code [columns][rows]} out in memory, panels of columns by several threads. */
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
        byte[] file = read(tensor, first, columns, columnBytes);
        QuantizedGroup group = new QuantizedGroup(format);
        byte[] packed = new byte[format.groupBytes()];
        long to = panel * format.panelBytes(target.rows());
        for (int g = 0; g < groups; g++) {
            for (int c = 0; c < columns; c++) {
                group.copy(file, c * columnBytes + g * format.fileBytes(), packed, c);
            }
            MemorySegment.copy(
                    packed, 0, target.data(), ValueLayout.JAVA_BYTE, to + (long) g * packed.length, packed.length);
        }
    }

    /**
     * Fills some columns.
     *
     * @param firstColumn of the target's, which are the tensor's first
     */
    static void fill(BlockWords target, int firstColumn, int columns, TensorBytes tensor) {
        IntStream.range(0, Math.ceilDiv(columns, PANEL)).parallel().forEach(panel -> {
            int first = panel * PANEL;
            fillColumns(target, firstColumn, first, Math.min(PANEL, columns - first), tensor);
        });
    }

    private static void fillColumns(BlockWords target, int firstColumn, int first, int columns, TensorBytes tensor) {
        BlockFormat format = target.format();
        int groups = target.rows() / format.groupRows();
        int columnBytes = Math.multiplyExact(groups, format.fileBytes());
        byte[] file = read(tensor, first, columns, columnBytes);
        QuantizedGroup group = new QuantizedGroup(format);
        for (int g = 0; g < groups; g++) {
            for (int c = 0; c < columns; c++) {
                group.read(file, c * columnBytes + g * format.fileBytes());
                target.put(group, g, firstColumn + first + c);
            }
        }
    }

    private static byte[] read(TensorBytes tensor, int firstColumn, int columns, int columnBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.multiplyExact(columns, columnBytes));
            tensor.read((long) firstColumn * columnBytes, memory);
            return memory.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
