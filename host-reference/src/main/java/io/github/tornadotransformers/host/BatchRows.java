package io.github.tornadotransformers.host;

import java.util.List;

/** The rows of a batch, and at which positions of which sequences they stand: spans, one behind the other. */
public final class BatchRows {
    private final List<Span> spans;
    private final int[] positions;

    private BatchRows(List<Span> spans, int[] positions) {
        this.spans = spans;
        this.positions = positions;
    }

    /**
     * Rows of one sequence that follow each other.
     *
     * @param firstRow of the batch
     * @param firstPosition of the first row
     * @param cache of the layer that is run; null where only positions matter
     */
    public record Span(int firstRow, int rows, int firstPosition, KvLayer cache) {
        /** The first position behind it. */
        int end() {
            return firstPosition + rows;
        }
    }

    /** @param spans in the order of their rows, without gaps */
    static BatchRows of(List<Span> spans) {
        Span last = spans.getLast();
        int[] positions = new int[last.firstRow + last.rows];
        for (Span span : spans) {
            for (int r = 0; r < span.rows; r++) {
                positions[span.firstRow + r] = span.firstPosition + r;
            }
        }
        return new BatchRows(List.copyOf(spans), positions);
    }

    /** One span, for Ops that need positions alone. */
    public static BatchRows of(int firstPosition, int rows) {
        return of(firstPosition, rows, null);
    }

    /** One span with its cache. */
    public static BatchRows of(int firstPosition, int rows, KvLayer cache) {
        return of(List.of(new Span(0, rows, firstPosition, cache)));
    }

    public int count() {
        return positions.length;
    }

    /** Where a row stands in its sequence. */
    public int position(int row) {
        return positions[row];
    }

    /** The first position behind those of all rows. */
    public int end() {
        int end = 0;
        for (Span span : spans) {
            end = Math.max(end, span.end());
        }
        return end;
    }

    public List<Span> spans() {
        return spans;
    }
}
