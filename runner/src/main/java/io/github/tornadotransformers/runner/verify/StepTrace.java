package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the trace points of one forward pass hold, put together from the chunks in which an engine runs the rows, so that
 * engines that cut differently compare.
 */
final class StepTrace implements TraceListener {
    /** The rows of a trace point: {@code [lastPosition - firstPosition + 1][width]}. */
    record Rows(int firstPosition, int width, float[] values) {
        int positions() {
            return values.length / width;
        }
    }

    private final Program program;
    private final boolean everyOp;
    private final Map<TracePoint, Rows> points = new LinkedHashMap<>();

    /** @param everyOp whether to keep every Op's output, or only the points that a trace shows by default */
    StepTrace(Program program, boolean everyOp) {
        this.program = program;
        this.everyOp = everyOp;
    }

    Map<TracePoint, Rows> points() {
        return points;
    }

    @Override
    public void opFinished(int layer, Op op, int firstPosition, int rows, float[] output) {
        if (!everyOp && !program.isTracePoint(op)) {
            return;
        }
        int width = op.output().width();
        float[] values = Arrays.copyOf(output, rows * width);
        if (op instanceof Op.AttentionScores || op instanceof Op.Softmax) {
            clearUnseen(values, op.attention().orElseThrow(), firstPosition);
        }
        points.merge(new TracePoint(layer, op.name()), new Rows(firstPosition, width, values), StepTrace::joined);
    }

    /** Scores of positions that a query does not see, later ones and those before its window, are undefined: makes them equal. */
    private static void clearUnseen(float[] scores, AttentionShape shape, int firstPosition) {
        int context = shape.contextLength();
        for (int row = 0; row < scores.length; row += context) {
            int position = firstPosition + row / shape.scoresWidth();
            Arrays.fill(scores, row, row + shape.firstVisible(position), 0f);
            Arrays.fill(scores, row + Math.min(position + 1, context), row + context, 0f);
        }
    }

    /** Chunks come in order; a point of logit rows is only in the last. */
    private static Rows joined(Rows earlier, Rows later) {
        float[] values = Arrays.copyOf(earlier.values, earlier.values.length + later.values.length);
        System.arraycopy(later.values, 0, values, earlier.values.length, later.values.length);
        return new Rows(earlier.firstPosition, earlier.width, values);
    }
}
