package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.plot.Svg;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Largest difference at each trace point, in the order of computation, on a logarithmic scale. */
final class DifferencePlot {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 270;
    private static final int LEFT = 70;
    private static final int TOP = 20;
    private static final int BOTTOM = 90;
    /** Labels slant to the left, so that none runs over the right edge. */
    private static final int SLANT = -35;
    /** Slanted labels that are closer than this cross each other. */
    private static final int LABEL_SPACING = 24;

    private static final int SMALLEST_EXPONENT = -12;
    private static final int LARGEST_EXPONENT = 4;

    private DifferencePlot() {}

    static String of(Comparison comparison) {
        Svg svg = new Svg(WIDTH, HEIGHT, "largest absolute difference per trace point");
        axis(svg);
        List<Map.Entry<TracePoint, Differences>> points = comparison.points().entrySet().stream()
                .filter(entry -> !entry.getKey().op().equals(TracePoint.TOKEN))
                .toList();
        double step = (double) (WIDTH - LEFT - 10) / points.size();
        boolean marked = false;
        for (int i = 0; i < points.size(); i++) {
            Differences differences = points.get(i).getValue();
            boolean first = differences.refused() > 0 && !marked;
            marked |= first;
            bar(svg, points.get(i).getKey(), differences, LEFT + i * step, step, first);
        }
        labels(svg, points.stream().map(Map.Entry::getKey).toList(), step);
        return svg.markup();
    }

    /** From the right, where what is most wanted stands; a label that would cross the last one is left out. */
    private static void labels(Svg svg, List<TracePoint> points, double step) {
        double last = Double.POSITIVE_INFINITY;
        for (int i = points.size() - 1; i >= 0; i--) {
            TracePoint point = points.get(i);
            double x = LEFT + (i + 0.5) * step;
            boolean inLayer = point.layer() != TraceListener.NO_LAYER;
            boolean wanted = !inLayer || i == 0 || points.get(i - 1).layer() != point.layer();
            if (wanted && x <= last - LABEL_SPACING) {
                String label = inLayer ? "layer " + point.layer() : point.op();
                svg.slanted(new Svg.Point(x + 4, y(SMALLEST_EXPONENT) + 14), SLANT, Svg.Anchor.END, label);
                last = x;
            }
        }
    }

    private static void axis(Svg svg) {
        for (int exponent = SMALLEST_EXPONENT; exponent <= LARGEST_EXPONENT; exponent += 4) {
            double y = y(exponent);
            svg.line(List.of(new Svg.Point(LEFT, y), new Svg.Point(WIDTH, y)), "stroke: currentColor; opacity: .2");
            svg.text(
                    new Svg.Point(LEFT - 8, y + 4),
                    Svg.Anchor.END,
                    "",
                    exponent == SMALLEST_EXPONENT ? "equal" : "1e" + exponent);
        }
    }

    private static double y(double exponent) {
        double clamped = Math.clamp(exponent, SMALLEST_EXPONENT, LARGEST_EXPONENT);
        double share = (clamped - SMALLEST_EXPONENT) / (LARGEST_EXPONENT - SMALLEST_EXPONENT);
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
    }

    private static void bar(Svg svg, TracePoint point, Differences differences, double x, double step, boolean first) {
        double largest = differences.largestAbsolute();
        double top = y(largest == 0 ? SMALLEST_EXPONENT : Math.log10(largest));
        double base = y(SMALLEST_EXPONENT);
        svg.bar(
                new Svg.Point(x + step * 0.15, top - 2),
                Math.max(1, step * 0.7),
                base - top + 2,
                differences.refused() > 0 ? "fill: var(--bad)" : "fill: var(--good)",
                String.format(Locale.ROOT, "%s: %.3g", point, largest));
        if (first) {
            svg.text(
                    new Svg.Point(x, TOP - 6),
                    x > WIDTH * 0.6 ? Svg.Anchor.END : Svg.Anchor.START,
                    "fill: var(--bad)",
                    "first difference: " + point);
        }
    }
}
