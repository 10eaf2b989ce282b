package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Neighbouring columns of one layer of a matrix that are kept in one type, of one tensor or more.
 *
 * @param firstColumn which of the matrix's is their first
 */
public record ColumnRun(int firstColumn, int columns, ColumnType type) {
    /** As few as a layer's columns are, left to right. */
    static List<ColumnRun> of(Weight weight, Function<TensorPart, ColumnType> types) {
        List<ColumnRun> runs = new ArrayList<>();
        for (TensorPart part : weight.parts()) {
            ColumnType type = types.apply(part);
            boolean goesOn = !runs.isEmpty()
                    && runs.getLast().type().equals(type)
                    && runs.getLast().endColumn() == part.firstColumn();
            ColumnRun before = goesOn ? runs.removeLast() : new ColumnRun(part.firstColumn(), 0, type);
            runs.add(new ColumnRun(before.firstColumn(), before.columns() + part.columns(), type));
        }
        return List.copyOf(runs);
    }

    /** One past the last column. */
    public int endColumn() {
        return firstColumn + columns;
    }

    /**
     * Bytes of what a device has in words of 32 bits: numbers of 16 bits, or what {@link BlockWords} describes. They are a multiple of
     * {@link WeightAllocator#ALIGNMENT}, as are those of {@link #floatBytes}: runs lie one behind the other.
     *
     * @throws ArithmeticException if a {@code long} cannot hold them
     */
    public long wordBytes(int rows) {
        return aligned(
                switch (type) {
                    case ColumnType.Plain plain -> plain.dtype() == DType.F32 ? 0 : plain.bytes(rows, columns);
                    case ColumnType.Blocks blocks -> bytes(blocks.format().columnWords(rows));
                });
    }

    /** Bytes of what a device has in float32: numbers, or scales and minima. */
    public long floatBytes(int rows) {
        return aligned(
                switch (type) {
                    case ColumnType.Plain plain -> plain.dtype() == DType.F32 ? plain.bytes(rows, columns) : 0;
                    case ColumnType.Blocks blocks -> bytes(blocks.format().columnFloats(rows));
                });
    }

    private long bytes(int perColumn) {
        return Math.multiplyExact((long) perColumn * Integer.BYTES, (long) columns);
    }

    private static long aligned(long bytes) {
        return Math.multiplyExact(Math.ceilDiv(bytes, WeightAllocator.ALIGNMENT), WeightAllocator.ALIGNMENT);
    }
}
