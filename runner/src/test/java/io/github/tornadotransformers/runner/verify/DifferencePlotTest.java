package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.generation.TraceListener;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DifferencePlotTest {
    private static final Pattern LABEL =
            Pattern.compile("translate\\((\\S+) \\S+\\) rotate\\(-\\d+\\)\" text-anchor=\"end\">([^<]*)<");
    private static final Pattern BAR = Pattern.compile("<rect x=\"(\\S+)\"[^>]*><title>layer 0 norm:");

    private static Comparison comparison(int layers) {
        Comparison comparison = new Comparison("scalar", "host", Tolerance.EXACT);
        Stream<TracePoint> inLayers = IntStream.range(0, layers)
                .boxed()
                .flatMap(layer -> Stream.of("norm", "oProj", "downProj").map(op -> new TracePoint(layer, op)));
        Stream.of(outside("tokenEmbedding"), inLayers, outside("selectRow", "finalNorm", "lmHead"))
                .flatMap(points -> points)
                .forEach(point -> comparison.compare(0, point, 0, 1, new float[] {1}, new double[] {1}));
        return comparison;
    }

    private static Stream<TracePoint> outside(String... ops) {
        return Stream.of(ops).map(op -> new TracePoint(TraceListener.NO_LAYER, op));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 6, 12, 32, 126})
    void labelsNeitherCrossNorLeaveThePicture(int layers) {
        List<MatchResult> labels =
                LABEL.matcher(DifferencePlot.of(comparison(layers))).results().toList();
        List<Double> places =
                labels.stream().map(label -> Double.valueOf(label.group(1))).toList();
        assertThat(labels.getFirst().group(2)).isEqualTo("lmHead");
        assertThat(places).allSatisfy(x -> assertThat(x).isBetween(70.0, 900.0));
        for (int i = 1; i < places.size(); i++) {
            assertThat(places.get(i - 1) - places.get(i)).isGreaterThanOrEqualTo(23.9);
        }
    }

    /** Whichever of its points are traced. */
    @ParameterizedTest
    @ValueSource(ints = {2, 6})
    void aLayerIsNamedAtItsFirstPoint(int layers) {
        String plot = DifferencePlot.of(comparison(layers));
        double bar = BAR.matcher(plot)
                .results()
                .mapToDouble(match -> Double.parseDouble(match.group(1)))
                .findFirst()
                .orElseThrow();
        double label = LABEL.matcher(plot)
                .results()
                .filter(match -> match.group(2).equals("layer 0"))
                .mapToDouble(match -> Double.parseDouble(match.group(1)))
                .findFirst()
                .orElseThrow();
        double step = 820.0 / (3 * layers + 4);
        assertThat(label - bar).isBetween(0.0, step);
    }
}
