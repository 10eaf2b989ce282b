package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.generation.Candidates;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** So much of a batch as runs at once: long spans are cut, short ones run together. Neither changes a bit. */
public final class BatchPiece {
    private final List<Part> parts = new ArrayList<>();
    private int rows;
    private int logitRows;

    /**
     * Tokens of a span.
     *
     * @param index of the span in the batch
     * @param start of the first token in the span
     * @param firstRow in the piece
     * @param logitRows how many of the last rows' logits are wanted
     */
    public record Part(int index, Span span, int start, int rows, int firstRow, int logitRows) {
        public int firstPosition() {
            return span.firstPosition() + start;
        }

        public PagedCache cache() {
            return (PagedCache) span.cache();
        }
    }

    /**
     * Cuts a batch, whose caches are {@link PagedCache}s.
     *
     * @param maxRows of a piece, 1 or more
     * @param maxLogitRows rows of a piece whose logits are wanted, 1 or more
     */
    public static List<BatchPiece> cut(Batch batch, int maxRows, int maxLogitRows) {
        return cut(batch, maxRows, maxRows, maxLogitRows);
    }

    /** @param firstRows of the first piece, instead of {@code maxRows} */
    public static List<BatchPiece> cut(Batch batch, int firstRows, int maxRows, int maxLogitRows) {
        List<BatchPiece> pieces = new ArrayList<>();
        BatchPiece piece = new BatchPiece();
        for (int index = 0; index < batch.spans().size(); index++) {
            Span span = batch.spans().get(index);
            for (int start = 0; start < span.tokens().length; ) {
                int room = piece.room(span, pieces.isEmpty() ? firstRows : maxRows, maxLogitRows);
                if (room == 0) {
                    pieces.add(piece);
                    piece = new BatchPiece();
                } else {
                    int count = Math.min(room, span.tokens().length - start);
                    piece.add(index, span, start, count);
                    start += count;
                }
            }
        }
        pieces.add(piece);
        return pieces;
    }

    private int room(Span span, int maxRows, int maxLogitRows) {
        int room = maxRows - rows;
        int logitRoom = maxLogitRows - logitRows;
        return switch (span.logits()) {
            case NONE -> room;
            case LAST -> logitRoom == 0 ? 0 : room;
            case ALL -> Math.min(room, logitRoom);
        };
    }

    private void add(int index, Span span, int start, int count) {
        boolean ends = start + count == span.tokens().length;
        int wanted = span.logits() == Wanted.ALL ? count : ends ? span.wanted() : 0;
        parts.add(new Part(index, span, start, count, rows, wanted));
        rows += count;
        logitRows += wanted;
    }

    public int[] tokens() {
        int[] tokens = new int[rows];
        for (Part part : parts) {
            System.arraycopy(part.span.tokens(), part.start, tokens, part.firstRow, part.rows);
        }
        return tokens;
    }

    public int rows() {
        return rows;
    }

    /** Where a row stands in its sequence. */
    public int position(int row) {
        Part part = parts.stream()
                .filter(each -> row < each.firstRow + each.rows)
                .findFirst()
                .orElseThrow();
        return part.firstPosition() + row - part.firstRow;
    }

    /** In the order of their rows, without gaps. */
    public List<Part> parts() {
        return List.copyOf(parts);
    }

    /** The rows whose logits are wanted. */
    public int[] selected() {
        int[] selected = new int[logitRows];
        int next = 0;
        for (Part part : parts) {
            for (int row = part.rows - part.logitRows; row < part.rows; row++) {
                selected[next++] = part.firstRow + row;
            }
        }
        return selected;
    }

    /** How many of the largest logits of each {@linkplain #selected selected} row serve; 0: all are wanted. */
    public int[] candidates() {
        int[] candidates = new int[logitRows];
        int next = 0;
        for (Part part : parts) {
            Arrays.fill(candidates, next, next + part.logitRows, part.span.candidates());
            next += part.logitRows;
        }
        return candidates;
    }

    /** The caches hold now what was run. */
    public void finish() {
        for (Part part : parts) {
            part.cache().setLength(part.firstPosition() + part.rows);
        }
    }

    /** @param logits of the selected rows, {@code [selected][vocabSize]} */
    public void hand(LogitsSink sink, float[] logits, int vocabSize) {
        hand(sink, logits, vocabSize, Collections.nCopies(logitRows, Optional.empty()));
    }

    /** @param found of each selected row, what is handed over instead of its logits, if anything */
    public void hand(LogitsSink sink, float[] logits, int vocabSize, List<Optional<Candidates>> found) {
        int next = 0;
        for (Part part : parts) {
            for (int row = part.rows - part.logitRows; row < part.rows; row++) {
                int position = part.firstPosition() + row;
                int offset = next * vocabSize;
                found.get(next)
                        .ifPresentOrElse(
                                candidates -> sink.acceptCandidates(part.index, position, candidates),
                                () -> sink.accept(part.index, position, logits, offset));
                next++;
            }
        }
    }

    /** How many of the rows, the first of them, are of the batch's first span. */
    public int rowsOfFirst() {
        return parts.stream()
                .filter(part -> part.index == 0)
                .mapToInt(Part::rows)
                .sum();
    }

    /** How many of the {@linkplain #selected selected} rows, the first of them, are of the batch's first span. */
    public int selectedOfFirst() {
        return parts.stream()
                .filter(part -> part.index == 0)
                .mapToInt(Part::logitRows)
                .sum();
    }
}
