package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** What every Op wrote, row by row, so that engines that cut a text into different chunks can be compared. */
public final class TracePoints implements TraceListener {
    /** The row of an Op's output that stands at a position. */
    public record Point(int layer, String op, int position) {}

    private final Map<Point, float[]> rows = new LinkedHashMap<>();

    public Map<Point, float[]> rows() {
        return rows;
    }

    @Override
    public void opFinished(int layer, Op op, int firstPosition, int count, float[] output) {
        int width = op.output().width();
        for (int r = 0; r < count; r++) {
            float[] row = Arrays.copyOfRange(output, r * width, (r + 1) * width);
            int position = firstPosition + r;
            rows.put(new Point(layer, op.name(), position), definedPart(op, position, row));
        }
    }

    /** Scores hold only the positions that the row's query sees. */
    private static float[] definedPart(Op op, int position, float[] row) {
        AttentionShape shape = switch (op) {
            case Op.AttentionScores scores -> scores.shape();
            case Op.Softmax softmax -> softmax.shape();
            default -> null;
        };
        if (shape != null) {
            for (int head = 0; head < shape.heads(); head++) {
                int first = head * shape.contextLength();
                Arrays.fill(row, first, first + shape.firstVisible(position), 0f);
                Arrays.fill(row, first + position + 1, first + shape.contextLength(), 0f);
            }
        }
        return row;
    }
}
