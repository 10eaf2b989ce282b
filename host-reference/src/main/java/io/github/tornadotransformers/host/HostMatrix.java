package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * One layer of a matrix, {@code [rows][columns]}: a linear layer has a row per input and a column per output.
 *
 * @param elements {@code rows * columns} elements of {@code dtype}, in the order of {@code layout}
 * @param scales float32 {@code [ceil(rows / 32)][columns]} where the type is INT8, in the order of {@code layout}
 * @param apart where the type is STORED, its columns; none otherwise
 */
public record HostMatrix(
        DType dtype,
        int rows,
        int columns,
        WeightLayout layout,
        MemorySegment elements,
        MemorySegment scales,
        List<HostColumns> apart) {
    public HostMatrix {
        apart = List.copyOf(apart);
    }

    /** In memory that is its own. */
    public HostMatrix(
            DType dtype, int rows, int columns, WeightLayout layout, MemorySegment elements, MemorySegment scales) {
        this(dtype, rows, columns, layout, elements, scales, List.of());
    }

    /** Columns that are kept apart, left to right. */
    HostMatrix(int rows, int columns, List<HostColumns> apart) {
        this(DType.STORED, rows, columns, WeightLayout.PANELS, MemorySegment.NULL, MemorySegment.NULL, apart);
    }

    /** As the canonical constructor, row-major. */
    public HostMatrix(DType dtype, int rows, int columns, MemorySegment elements, MemorySegment scales) {
        this(dtype, rows, columns, WeightLayout.ROW_MAJOR, elements, scales);
    }

    /** One layer of a weight. */
    public static HostMatrix of(Weights weights, Weight weight, int layer) {
        return weights.isStored(weight)
                ? new HostMatrix(
                        weight.rows(),
                        weight.columns(),
                        weights.columns(weight, layer).stream()
                                .map(HostColumns::of)
                                .toList())
                : of(weights.get(weight), layer);
    }

    public static HostMatrix of(WeightData data, int layer) {
        return new HostMatrix(
                data.dtype(),
                data.weight().rows(),
                data.weight().columns(),
                data.layout(),
                data.layer(layer),
                data.layerScales(layer));
    }

    /** The element as float32, exactly; for INT8 the quantized integer without its scale. */
    float element(int row, int column) {
        long index = index(row, column);
        return switch (dtype) {
            case F32 -> elements.getAtIndex(ValueLayout.JAVA_FLOAT, index);
            case BF16 -> Float.intBitsToFloat(elements.getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
            case F16 -> Float.float16ToFloat(elements.getAtIndex(ValueLayout.JAVA_SHORT, index));
            case INT8 -> elements.getAtIndex(ValueLayout.JAVA_BYTE, index);
            case STORED -> throw new IllegalStateException("tensors are kept apart");
        };
    }

    /** The same matrix row-major: this one, or a copy that lives as long as it is used. */
    public HostMatrix rowMajor() {
        if (layout == WeightLayout.ROW_MAJOR) {
            return this;
        }
        MemorySegment copy = Arena.ofAuto().allocate(elements.byteSize(), WeightAllocator.ALIGNMENT);
        MemorySegment scalesCopy = dtype == DType.INT8
                ? Arena.ofAuto().allocate(scales.byteSize(), WeightAllocator.ALIGNMENT)
                : MemorySegment.NULL;
        int bytes = dtype.bytes();
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                long to = (long) row * columns + column;
                MemorySegment.copy(elements, index(row, column) * bytes, copy, to * bytes, bytes);
                if (dtype == DType.INT8 && row % DType.BLOCK == 0) {
                    float scale = scale(row, column);
                    scalesCopy.setAtIndex(ValueLayout.JAVA_FLOAT, (long) (row / DType.BLOCK) * columns + column, scale);
                }
            }
        }
        return new HostMatrix(dtype, rows, columns, copy, scalesCopy);
    }

    /** Where an element lies in {@link #elements}. */
    long index(int row, int column) {
        return layout.index(dtype, rows, columns, row, column);
    }

    /** Where the scale of a block of rows and a column lies in {@link #scales}. */
    long scaleIndex(int block, int column) {
        return layout.index(DType.F32, Math.ceilDiv(rows, DType.BLOCK), columns, block, column);
    }

    /** The scale that the INT8 elements of {@code row}'s block share in this column. */
    float scale(int row, int column) {
        return scales.getAtIndex(ValueLayout.JAVA_FLOAT, scaleIndex(row / DType.BLOCK, column));
    }

    /** The weight itself, float32. */
    float value(int row, int column) {
        if (dtype == DType.STORED) {
            return apart.stream()
                    .filter(columns -> column < columns.firstColumn() + columns.columns())
                    .findFirst()
                    .orElseThrow()
                    .value(row, column);
        }
        float element = element(row, column);
        return dtype == DType.INT8 ? element * scale(row, column) : element;
    }
}
