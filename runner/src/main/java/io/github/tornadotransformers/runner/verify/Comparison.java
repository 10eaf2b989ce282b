package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.TraceListener;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** How one engine's trace differs from the reference's, over all steps. */
public final class Comparison {
    private final String reference;
    private final String engine;
    private final Tolerance tolerance;
    private final Map<TracePoint, Differences> points = new LinkedHashMap<>();
    private Optional<FirstDifference> first = Optional.empty();
    private Optional<NonFiniteValue> firstNonFinite = Optional.empty();
    private boolean sawNonFinite;

    Comparison(String reference, String engine, Tolerance tolerance) {
        this.reference = reference;
        this.engine = engine;
        this.tolerance = tolerance;
    }

    /** Compares a step's points, in the reference's order. */
    void compare(int step, StepTrace expected, StepTrace actual) {
        expected.points()
                .forEach((point, rows) ->
                        compare(step, point, rows, actual.points().get(point)));
    }

    private void compare(int step, TracePoint point, StepTrace.Rows expected, StepTrace.Rows actual) {
        if (actual == null || actual.values().length != expected.values().length) {
            throw new IllegalStateException(engine + " traced " + (actual == null ? 0 : actual.values().length)
                    + " elements at " + point + " in step " + step + ", " + reference + " "
                    + expected.values().length);
        }
        Differences differences = differences(point);
        for (int i = 0; i < expected.values().length; i++) {
            boolean accepted = differences.compare(actual.values()[i], expected.values()[i]);
            if (!accepted || !Float.isFinite(expected.values()[i])) {
                int position = expected.firstPosition() + i / expected.width();
                note(accepted, step, point, position, i % expected.width(), expected.values()[i], actual.values()[i]);
            }
        }
    }

    /** Compares elements with values of higher precision; the first row's token is at {@code position}. */
    void compare(int step, TracePoint point, int position, int width, float[] actual, double[] expected) {
        Differences differences = differences(point);
        for (int i = 0; i < expected.length; i++) {
            if (!differences.compare(actual[i], expected[i])) {
                refuse(step, point, position + i / width, i % width, expected[i], actual[i]);
            }
        }
    }

    /** Compares the last token's logits of an engine that nothing traces; what lies behind as many as are expected is not theirs. */
    void compareText(int step, int position, float[] expected, float[] actual) {
        StepTrace.Rows rows = new StepTrace.Rows(position, expected.length, expected);
        StepTrace.Rows own = new StepTrace.Rows(position, expected.length, Arrays.copyOf(actual, expected.length));
        compare(step, new TracePoint(TraceListener.NO_LAYER, TracePoint.TEXT_LOGITS), rows, own);
    }

    /** Tokens are equal or not, whatever the tolerance. */
    void compareToken(int step, int position, int expected, int actual) {
        compareToken(step, TracePoint.TOKEN, position, expected, actual);
    }

    /** As {@link #compareToken(int, int, int, int)}, of an engine that nothing traces. */
    void compareTextToken(int step, int position, int expected, int actual) {
        compareToken(step, TracePoint.TEXT_TOKEN, position, expected, actual);
    }

    private void compareToken(int step, String name, int position, int expected, int actual) {
        TracePoint point = new TracePoint(TraceListener.NO_LAYER, name);
        Differences differences = points.computeIfAbsent(point, _ -> new Differences(Tolerance.EXACT));
        if (!differences.compare((float) actual, (float) expected)) {
            refuse(step, point, position, 0, expected, actual);
        }
    }

    private Differences differences(TracePoint point) {
        return points.computeIfAbsent(point, _ -> new Differences(tolerance));
    }

    /** Of an element that is refused, or accepted although it is not finite. */
    private void note(
            boolean accepted, int step, TracePoint point, int position, int index, float expected, float actual) {
        if (!accepted) {
            refuse(step, point, position, index, expected, actual);
        } else if (firstNonFinite.isEmpty()) {
            firstNonFinite = Optional.of(new NonFiniteValue(step, point, position, index, actual));
        }
    }

    private void refuse(int step, TracePoint point, int position, int index, double expected, double actual) {
        sawNonFinite |= !Double.isFinite(expected) || !Double.isFinite(actual);
        if (first.isEmpty()) {
            first = Optional.of(new FirstDifference(step, point, position, index, expected, actual));
        }
    }

    public String reference() {
        return reference;
    }

    public String engine() {
        return engine;
    }

    public Tolerance tolerance() {
        return tolerance;
    }

    public Map<TracePoint, Differences> points() {
        return Collections.unmodifiableMap(points);
    }

    public Optional<FirstDifference> first() {
        return first;
    }

    /** The first element that is equal and not finite. */
    public Optional<NonFiniteValue> firstNonFinite() {
        return firstNonFinite;
    }

    /** Whether any engine gave a value that is not finite. */
    public boolean sawNonFinite() {
        return sawNonFinite || firstNonFinite.isPresent();
    }

    public boolean agrees() {
        return first.isEmpty();
    }
}
