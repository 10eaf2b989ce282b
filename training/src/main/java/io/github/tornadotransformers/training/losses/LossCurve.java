package io.github.tornadotransformers.training.losses;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A run's losses over its steps, as a picture and as text. */
public final class LossCurve {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    private static final int LEFT = 48;
    private static final int TOP = 16;
    private static final int RIGHT = WIDTH - 16;
    private static final int BOTTOM = HEIGHT - 36;
    private static final int TICKS = 5;
    private static final int TICK = 4;
    private static final int KEY_LINE = 14;

    private static final int TEXT_COLUMNS = 64;
    private static final int TEXT_ROWS = 14;
    private static final char TRAINING_MARK = '.';
    private static final char VALIDATION_MARK = 'o';

    private final List<Double> training;
    private final List<LossHistory.Validation> validation;
    private final int steps;
    private final double low;
    private final double high;

    private LossCurve(LossHistory history) {
        training = history.training();
        validation = history.validation();
        steps = Math.max(1, training.size());
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < training.size(); i++) {
            double loss = smoothed(i);
            min = Math.min(min, loss);
            max = Math.max(max, loss);
        }
        for (LossHistory.Validation each : validation) {
            min = Math.min(min, each.loss());
            max = Math.max(max, each.loss());
        }
        low = min > max ? 0 : Math.floor(min * 2) / 2;
        high = min > max ? 1 : Math.max(low + 0.5, Math.ceil(max * 2) / 2);
    }

    /** A PNG of {@value #WIDTH} by {@value #HEIGHT} pixels; the same losses give the same bytes. */
    public static byte[] png(LossHistory history) {
        return new LossCurve(history).draw().toPng();
    }

    /** Lines for a terminal: validation as {@value #VALIDATION_MARK}, training as {@value #TRAINING_MARK}. */
    public static String text(LossHistory history) {
        return new LossCurve(history).write();
    }

    /** The mean over the last hundredth of the steps before: windows differ in difficulty. */
    private double smoothed(int index) {
        int span = Math.max(1, training.size() / 100);
        double sum = 0;
        int first = Math.max(0, index - span + 1);
        for (int i = first; i <= index; i++) {
            sum += training.get(i);
        }
        return sum / (index - first + 1);
    }

    private Canvas draw() {
        Canvas canvas = new Canvas(WIDTH, HEIGHT);
        canvas.line(LEFT, TOP, LEFT, BOTTOM, Canvas.Ink.AXIS);
        canvas.line(LEFT, BOTTOM, RIGHT, BOTTOM, Canvas.Ink.AXIS);
        for (int i = 0; i <= TICKS; i++) {
            double loss = low + (high - low) * i / TICKS;
            canvas.line(LEFT - TICK, y(loss), LEFT, y(loss), Canvas.Ink.AXIS);
            String label = String.format(Locale.ROOT, "%.1f", loss);
            canvas.text(LEFT - 2 * TICK - Canvas.width(label), y(loss) - TICK, label);
            int step = Math.toIntExact((long) steps * i / TICKS);
            canvas.line(x(step), BOTTOM, x(step), BOTTOM + TICK, Canvas.Ink.AXIS);
            String at = Integer.toString(step);
            canvas.text(x(step) - Canvas.width(at) / 2, BOTTOM + 2 * TICK, at);
        }
        canvas.text((LEFT + RIGHT) / 2, HEIGHT - KEY_LINE, "steps");
        for (int i = 1; i < training.size(); i++) {
            canvas.line(x(i - 1), y(smoothed(i - 1)), x(i), y(smoothed(i)), Canvas.Ink.TRAINING);
        }
        for (int i = 0; i < validation.size(); i++) {
            LossHistory.Validation to = validation.get(i);
            LossHistory.Validation from = validation.get(Math.max(0, i - 1));
            canvas.line(x(from.step()), y(from.loss()), x(to.step()), y(to.loss()), Canvas.Ink.VALIDATION);
        }
        drawKey(canvas, TOP, "training loss", Canvas.Ink.TRAINING);
        drawKey(canvas, TOP + KEY_LINE, "validation loss", Canvas.Ink.VALIDATION);
        return canvas;
    }

    private static void drawKey(Canvas canvas, int y, String label, Canvas.Ink ink) {
        int x = RIGHT - Canvas.width("validation loss");
        canvas.line(x - 24, y + TICK, x - 8, y + TICK, ink);
        canvas.text(x, y, label);
    }

    private int x(int step) {
        return LEFT + (int) Math.round((double) (RIGHT - LEFT) * step / steps);
    }

    private int y(double loss) {
        return BOTTOM - (int) Math.round((BOTTOM - TOP) * (loss - low) / (high - low));
    }

    private String write() {
        char[][] grid = new char[TEXT_ROWS][TEXT_COLUMNS];
        for (char[] row : grid) {
            Arrays.fill(row, ' ');
        }
        for (int i = 0; i < training.size(); i++) {
            mark(grid, i + 1, smoothed(i), TRAINING_MARK);
        }
        for (LossHistory.Validation each : validation) {
            mark(grid, each.step(), each.loss(), VALIDATION_MARK);
        }
        StringBuilder lines = new StringBuilder();
        for (int row = 0; row < TEXT_ROWS; row++) {
            double loss = high - (high - low) * row / (TEXT_ROWS - 1);
            lines.append(String.format(Locale.ROOT, "%6.2f |%s%n", loss, new String(grid[row]).stripTrailing()));
        }
        lines.append(String.format("       +%s%n", "-".repeat(TEXT_COLUMNS)));
        String last = Integer.toString(steps);
        lines.append(String.format("        0%" + (TEXT_COLUMNS - 1) + "s steps%n", last));
        lines.append(String.format("        loss: %c training, %c validation%n", TRAINING_MARK, VALIDATION_MARK));
        return lines.toString();
    }

    private void mark(char[][] grid, int step, double loss, char mark) {
        int column = (int) Math.min(TEXT_COLUMNS - 1L, (long) TEXT_COLUMNS * step / steps);
        int row = (int) Math.round((TEXT_ROWS - 1) * (high - loss) / (high - low));
        grid[Math.clamp(row, 0, TEXT_ROWS - 1)][column] = mark;
    }
}
