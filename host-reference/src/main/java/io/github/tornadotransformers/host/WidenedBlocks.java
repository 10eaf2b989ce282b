package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Copies a slice of a panel of a matrix in a block format to float32 memory, the quants without their scales. */
final class WidenedBlocks {
    private static final int PANEL = WeightLayout.PANEL;
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int NIBBLE = 0xF;

    private WidenedBlocks() {}

    /**
     * {@code to[k][c]} = the quant of row {@code start + k}, less the offset, for the columns of the panel that begins at
     * {@code column}.
     */
    static void copyQuants(BlockData matrix, int start, int rows, int column, float[] to) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        for (int row = start; row < start + rows; row += format.blockRows()) {
            int inGroup = row % format.groupRows();
            long group = matrix.groupAt(row, column);
            int target = (row - start) * PANEL;
            if (format.bits() == Byte.SIZE) {
                bytes(data, group + format.quantsAt() + (long) inGroup * PANEL, format.blockRows(), to, target);
                continue;
            }
            long quants = group + format.quantsAt() + (long) (inGroup / 2) * PANEL;
            nibbles(data, quants, format.blockRows(), format.bits() == 4 ? format.offset() : 0, to, target);
            if (format.bits() > 4) {
                long high = group + format.highAt() + (long) (inGroup / format.rowsOfHighByte()) * PANEL;
                addHighBits(data, high, format, to, target);
            }
        }
    }

    private static void bytes(MemorySegment data, long first, int rows, float[] to, int target) {
        for (int i = 0; i < rows * PANEL; i += LANES) {
            ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, first + i, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .intoArray(to, target + i);
        }
    }

    private static void nibbles(MemorySegment data, long first, int rows, int offset, float[] to, int target) {
        for (int pair = 0; pair < rows / 2; pair++) {
            for (int c = 0; c < PANEL; c += LANES) {
                IntVector both =
                        (IntVector) ByteVector.fromMemorySegment(BYTES, data, first + (long) pair * PANEL + c, ORDER)
                                .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                int even = target + 2 * pair * PANEL + c;
                ((FloatVector) both.and(NIBBLE).sub(offset).convert(VectorOperators.I2F, 0)).intoArray(to, even);
                ((FloatVector) both.lanewise(VectorOperators.LSHR, 4)
                                .sub(offset)
                                .convert(VectorOperators.I2F, 0))
                        .intoArray(to, even + PANEL);
            }
        }
    }

    private static void addHighBits(MemorySegment data, long first, BlockFormat format, float[] to, int target) {
        int together = format.rowsOfHighByte();
        int bits = Byte.SIZE / together;
        int mask = (1 << bits) - 1;
        for (int row = 0; row < format.blockRows(); row++) {
            for (int c = 0; c < PANEL; c += LANES) {
                IntVector high = ((IntVector) ByteVector.fromMemorySegment(
                                        BYTES, data, first + (long) (row / together) * PANEL + c, ORDER)
                                .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                        .lanewise(VectorOperators.LSHR, row % together * bits)
                        .and(mask)
                        .lanewise(VectorOperators.LSHL, 4)
                        .sub(format.offset());
                int at = target + row * PANEL + c;
                FloatVector.fromArray(FLOATS, to, at)
                        .add((FloatVector) high.convert(VectorOperators.I2F, 0))
                        .intoArray(to, at);
            }
        }
    }

    /** {@code scales[b][c]}, and {@code minima[b][c]} where there are any, of the blocks of a slice. */
    static void copyScales(BlockData matrix, int start, int rows, int column, float[] scales, float[] minima) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        for (int row = start; row < start + rows; row += format.blockRows()) {
            long group = matrix.groupAt(row, column);
            int block = row % format.groupRows() / format.blockRows();
            int target = (row - start) / format.blockRows() * PANEL;
            factors(data, group, group + format.scaleAt(block), format.isTwoLevel(), scales, target);
            if (format.hasMinimum()) {
                long minimum = group + format.minimaAt();
                factors(data, minimum, group + format.minimumAt(block), format.isTwoLevel(), minima, target);
            }
        }
    }

    private static void factors(
            MemorySegment data, long floats, long integers, boolean isTwoLevel, float[] to, int target) {
        for (int c = 0; c < PANEL; c += LANES) {
            FloatVector factor = FloatVector.fromMemorySegment(FLOATS, data, floats + (long) c * Float.BYTES, ORDER);
            if (isTwoLevel) {
                factor = factor.mul((FloatVector) ByteVector.fromMemorySegment(BYTES, data, integers + c, ORDER)
                        .convertShape(VectorOperators.B2F, FLOATS, 0));
            }
            factor.intoArray(to, target + c);
        }
    }
}
