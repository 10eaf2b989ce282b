package io.github.tornadotransformers.training.losses;

import io.github.tornadotransformers.models.plot.Svg;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** A run's losses over its steps, as a picture and as text. */
public final class LossCurve {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    private static final int LEFT = 48;
    private static final int TOP = 44;
    private static final int RIGHT = WIDTH - 24;
    private static final int BOTTOM = HEIGHT - 36;
    private static final int TICKS = 5;
    private static final int TICK = 4;
    private static final int KEY_TOP = 14;
    private static final int KEY_LINE = 16;
    private static final int KEY_WIDTH = 90;
    private static final double DOT = 2.5;
    private static final String RULES = "text { font: 12px sans-serif; fill: #444 }";
    private static final String PAPER_STYLE = "fill: #fff";
    private static final String AXIS_STYLE = "stroke: #444";
    private static final String TRAINING_COLOUR = "#9db8d9";
    private static final String VALIDATION_COLOUR = "#c0392b";

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

    /** A file of SVG; the same losses give the same bytes. */
    public static String svg(LossHistory history) {
        return new LossCurve(history).draw();
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

    private String draw() {
        Svg svg =
                new Svg(WIDTH, HEIGHT, "training and validation loss over " + training.size() + " steps").rules(RULES);
        svg.bar(new Svg.Point(0, 0), WIDTH, HEIGHT, PAPER_STYLE, "losses");
        drawAxes(svg);
        drawLosses(
                svg,
                IntStream.range(0, training.size())
                        .mapToObj(i -> at(i + 1, smoothed(i)))
                        .toList(),
                TRAINING_COLOUR,
                training.size() == 1);
        drawLosses(
                svg,
                validation.stream().map(each -> at(each.step(), each.loss())).toList(),
                VALIDATION_COLOUR,
                true);
        drawKey(svg, KEY_TOP, "training loss", TRAINING_COLOUR);
        drawKey(svg, KEY_TOP + KEY_LINE, "validation loss", VALIDATION_COLOUR);
        return svg.file();
    }

    private void drawAxes(Svg svg) {
        svg.line(
                List.of(new Svg.Point(LEFT, TOP), new Svg.Point(LEFT, BOTTOM), new Svg.Point(RIGHT, BOTTOM)),
                AXIS_STYLE);
        for (int i = 0; i <= TICKS; i++) {
            double loss = low + (high - low) * i / TICKS;
            Svg.Point onLosses = at(0, loss);
            svg.line(List.of(new Svg.Point(LEFT - TICK, onLosses.y()), onLosses), AXIS_STYLE);
            svg.text(
                    new Svg.Point(LEFT - 2 * TICK, onLosses.y() + TICK),
                    Svg.Anchor.END,
                    "",
                    String.format(Locale.ROOT, "%.1f", loss));
        }
        IntStream.rangeClosed(0, TICKS)
                .map(i -> Math.toIntExact((long) steps * i / TICKS))
                .distinct()
                .forEach(step -> {
                    Svg.Point onSteps = at(step, low);
                    svg.line(List.of(onSteps, new Svg.Point(onSteps.x(), BOTTOM + TICK)), AXIS_STYLE);
                    svg.text(
                            new Svg.Point(onSteps.x(), BOTTOM + 4 * TICK),
                            Svg.Anchor.MIDDLE,
                            "",
                            Integer.toString(step));
                });
        svg.text(new Svg.Point((LEFT + RIGHT) / 2.0, HEIGHT - TICK), Svg.Anchor.MIDDLE, "", "steps");
    }

    private static void drawLosses(Svg svg, List<Svg.Point> points, String colour, boolean dots) {
        if (!points.isEmpty()) {
            svg.line(points, "stroke: " + colour);
        }
        if (dots) {
            points.forEach(point -> svg.dot(point, DOT, "fill: " + colour));
        }
    }

    private static void drawKey(Svg svg, int y, String label, String colour) {
        int x = RIGHT - KEY_WIDTH;
        svg.line(List.of(new Svg.Point(x - 24, y), new Svg.Point(x - 8, y)), "stroke: " + colour + "; stroke-width: 2");
        svg.text(new Svg.Point(x, y + TICK), Svg.Anchor.START, "", label);
    }

    /** Where the loss of a step, counted from 1, is drawn. */
    private Svg.Point at(int step, double loss) {
        return new Svg.Point(
                LEFT + (double) (RIGHT - LEFT) * step / steps, BOTTOM - (BOTTOM - TOP) * (loss - low) / (high - low));
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
