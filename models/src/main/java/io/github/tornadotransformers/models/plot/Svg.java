package io.github.tornadotransformers.models.plot;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A drawing of lines, bars, dots and text as SVG: the same calls give the same bytes, without a window system or a font.
 * Coordinates are in the drawing's own units, x to the right and y downwards; a style is CSS.
 *
 * <p>Source: W3C, Scalable Vector Graphics 1.1.
 */
public final class Svg {
    private final StringBuilder markup = new StringBuilder();

    /** A place in the drawing. */
    public record Point(double x, double y) {
        private String markup() {
            return String.format(Locale.ROOT, "%.1f,%.1f", x, y);
        }
    }

    /** Where a text lies at its point. */
    public enum Anchor {
        START,
        MIDDLE,
        END
    }

    /** @param description of what it shows, for those who cannot see it */
    public Svg(int width, int height, String description) {
        add(" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", width, height, escape(description));
    }

    /** A text as it stands in markup, also within quotes. */
    public static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private Svg add(String format, Object... arguments) {
        markup.append(String.format(Locale.ROOT, format, arguments));
        return this;
    }

    /** Rules of CSS for all that follows. */
    public Svg rules(String css) {
        return add("<style>%s</style>", css);
    }

    /** One point is a line to itself: nothing to see, unless its ends are round. */
    public Svg line(List<Point> points, String style) {
        String path = points.stream().map(Point::markup).collect(Collectors.joining(" "));
        return add("<polyline points=\"%s\" fill=\"none\" style=\"%s\"/>", path, escape(style));
    }

    public Svg dot(Point at, double radius, String style) {
        return add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" style=\"%s\"/>", at.x, at.y, radius, escape(style));
    }

    /** @param title shown where the mouse points at it */
    public Svg bar(Point upperLeft, double width, double height, String style, String title) {
        return add(
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" style=\"%s\"><title>%s</title></rect>",
                upperLeft.x, upperLeft.y, width, height, escape(style), escape(title));
    }

    public Svg text(Point at, Anchor anchor, String style, String text) {
        return add(
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" style=\"%s\">%s</text>",
                at.x, at.y, name(anchor), escape(style), escape(text));
    }

    /** @param degrees clockwise, about the point */
    public Svg slanted(Point at, int degrees, Anchor anchor, String text) {
        return add(
                "<text transform=\"translate(%.1f %.1f) rotate(%d)\" text-anchor=\"%s\">%s</text>",
                at.x, at.y, degrees, name(anchor), escape(text));
    }

    private static String name(Anchor anchor) {
        return anchor.toString().toLowerCase(Locale.ROOT);
    }

    /** The whole drawing as a part of a page. */
    public String markup() {
        return "<svg" + markup + "</svg>";
    }

    /** The whole drawing as a file of its own, which has to name its namespace. */
    public String file() {
        return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + markup + "</svg>\n";
    }
}
