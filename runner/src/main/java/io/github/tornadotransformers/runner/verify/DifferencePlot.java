package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.TraceListener;
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
    private static final int SMALLEST_EXPONENT = -12;
    private static final int LARGEST_EXPONENT = 4;

    private DifferencePlot() {}

    static String of(Comparison comparison) {
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"largest absolute difference per trace point\">",
                WIDTH,
                HEIGHT));
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
        return svg.append("</svg>").toString();
    }

    private static void axis(StringBuilder svg) {
        for (int exponent = SMALLEST_EXPONENT; exponent <= LARGEST_EXPONENT; exponent += 4) {
            double y = y(exponent);
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" opacity=\".2\"/>"
                            + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                    LEFT,
                    WIDTH,
                    y,
                    y,
                    LEFT - 8,
                    y + 4,
                    exponent == SMALLEST_EXPONENT ? "equal" : "1e" + exponent));
        }
    }

    private static double y(double exponent) {
        double clamped = Math.clamp(exponent, SMALLEST_EXPONENT, LARGEST_EXPONENT);
        double share = (clamped - SMALLEST_EXPONENT) / (LARGEST_EXPONENT - SMALLEST_EXPONENT);
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
    }

    private static void bar(
            StringBuilder svg, TracePoint point, Differences differences, double x, double step, boolean first) {
        double largest = differences.largestAbsolute();
        double top = y(largest == 0 ? SMALLEST_EXPONENT : Math.log10(largest));
        double base = y(SMALLEST_EXPONENT);
        String colour = differences.refused() > 0 ? "var(--bad)" : "var(--good)";
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>%s: %.3g</title></rect>",
                x + step * 0.15,
                top - 2,
                Math.max(1, step * 0.7),
                base - top + 2,
                colour,
                HtmlReport.escape(point.toString()),
                largest));
        if (first) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\" style=\"fill: var(--bad)\">first difference: %s</text>",
                    x,
                    TOP - 6,
                    x > WIDTH * 0.6 ? "end" : "start",
                    HtmlReport.escape(point.toString())));
        }
        if (point.layer() == TraceListener.NO_LAYER || startsLayer(point)) {
            String label = point.layer() == TraceListener.NO_LAYER ? point.op() : "layer " + point.layer();
            svg.append(String.format(
                    Locale.ROOT,
                    "<text transform=\"translate(%.1f %.1f) rotate(35)\">%s</text>",
                    x + step * 0.3,
                    base + 14,
                    HtmlReport.escape(label)));
        }
    }

    /** The attention's residual is the first default point of a layer, its norm the first of all. */
    private static boolean startsLayer(TracePoint point) {
        return point.op().equals("oProj");
    }
}
