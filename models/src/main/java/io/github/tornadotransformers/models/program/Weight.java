package io.github.tornadotransformers.models.program;

import java.util.List;

/**
 * One kind of trained tensor: {@code [rows][columns]}, row-major, stacked over the layers when {@code layers > 1}. A linear
 * layer's weight has a row per input and a column per output, whatever the checkpoint's layout is.
 *
 * @param layers how many are stacked; 1 for a weight outside the block
 * @param kind what precision it may be kept in
 * @param parts the checkpoint tensors it is made of, left to right; each fills a range of columns
 */
public record Weight(String name, int layers, int rows, int columns, Kind kind, List<TensorPart> parts) {
    /** What precision a weight may be kept in. */
    public enum Kind {
        /** Multiplied with activations (or looked up as an embedding): kept in the chosen data type. */
        MATRIX,

        /** Norm weights, biases and positions: few, and always float32. */
        FLOAT32
    }

    public Weight {
        parts = List.copyOf(parts);
        if (parts.stream().anyMatch(part -> part.offset() != 0f) && (kind != Kind.FLOAT32 || rows != 1)) {
            throw new IllegalArgumentException("only vectors have an offset, not " + name);
        }
    }

    /** The same for so many layers. */
    public Weight withLayers(int layers) {
        return new Weight(name, layers, rows, columns, kind, parts);
    }

    /** Elements of one layer. */
    public long layerSize() {
        return Math.multiplyExact((long) rows, (long) columns);
    }

    /** Elements of all layers. */
    public long size() {
        return Math.multiplyExact(layerSize(), (long) layers);
    }

    /** The shape that the checkpoint's tensor must have: one dimension for a vector, two otherwise. */
    public List<Long> shapeOf(TensorPart part) {
        if (kind == Kind.FLOAT32 && rows == 1) {
            return List.of((long) part.columns());
        }
        return part.transposed()
                ? List.of((long) part.columns(), (long) rows)
                : List.of((long) rows, (long) part.columns());
    }
}
