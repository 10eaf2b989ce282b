package io.github.tornadotransformers.training.losses;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

class LossCurveTest {
    private static final String TEXT = """
          3.00 |                .
          2.85 |
          2.69 |                                o
          2.54 |
          2.38 |
          2.23 |
          2.08 |
          1.92 |                                .
          1.77 |
          1.62 |
          1.46 |                                                .
          1.31 |
          1.15 |
          1.00 |                                                               o
               +----------------------------------------------------------------
                0                                                              4 steps
                loss: . training, o validation
        """;

    private static LossHistory history(int steps) {
        return LossHistory.of(
                IntStream.range(0, steps)
                        .mapToObj(i -> 2 + 4 * Math.exp(-i / 20.0))
                        .toList(),
                IntStream.range(1, steps / 10 + 1)
                        .mapToObj(i -> new LossHistory.Validation(10 * i, 3 + 3 * Math.exp(-i / 2.0)))
                        .toList());
    }

    /** All elements of that name. */
    private static List<Node> nodes(LossHistory history, String name) throws Exception {
        byte[] svg = LossCurve.svg(history).getBytes(StandardCharsets.UTF_8);
        NodeList found = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg))
                .getElementsByTagName(name);
        return IntStream.range(0, found.getLength()).mapToObj(found::item).toList();
    }

    /** Their attributes. */
    private static List<NamedNodeMap> elements(LossHistory history, String name) throws Exception {
        return nodes(history, name).stream().map(Node::getAttributes).toList();
    }

    private static String value(NamedNodeMap attributes, String name) {
        return attributes.getNamedItem(name).getNodeValue();
    }

    /** The points of the line of that style. */
    private static List<String> line(LossHistory history, String style) throws Exception {
        return elements(history, "polyline").stream()
                .filter(line -> value(line, "style").equals(style))
                .map(line -> List.of(value(line, "points").split(" ")))
                .findFirst()
                .orElse(List.of());
    }

    @Test
    void thePictureHasBothCurvesWithAPointForEachLoss() throws Exception {
        assertThat(line(history(100), "stroke: #9db8d9")).hasSize(100);
        assertThat(line(history(100), "stroke: #c0392b")).hasSize(10);
        assertThat(LossCurve.svg(history(100))).isEqualTo(LossCurve.svg(history(100)));
    }

    /** From 48 to 616, 4 steps are 142 apart; losses from 1 to 3 lie between 364 and 44. */
    @Test
    void aLossIsDrawnAtItsStep() throws Exception {
        LossHistory history = LossHistory.of(List.of(3.0, 2.0, 1.5, 1.0), List.of(new LossHistory.Validation(4, 2.0)));
        assertThat(line(history, "stroke: #9db8d9"))
                .containsExactly("190.0,44.0", "332.0,204.0", "474.0,284.0", "616.0,364.0");
    }

    @Test
    void oneValidationLossIsADot() throws Exception {
        LossHistory history = LossHistory.of(List.of(3.0, 1.0), List.of(new LossHistory.Validation(2, 2.0)));
        assertThat(elements(history, "circle"))
                .singleElement()
                .satisfies(dot ->
                        assertThat(value(dot, "cx") + " " + value(dot, "cy")).isEqualTo("616.0 204.0"));
    }

    @Test
    void oneStepIsADot() throws Exception {
        assertThat(elements(LossHistory.of(List.of(2.0), List.of()), "circle")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "3, 4", "5, 6", "100, 6"})
    void eachStepOnTheAxisIsNamedOnce(int steps, int marks) throws Exception {
        List<String> places = elements(history(steps), "text").stream()
                .map(text -> value(text, "x") + " " + value(text, "y"))
                .filter(place -> place.endsWith(" 380.0"))
                .toList();
        assertThat(places).hasSize(marks).doesNotHaveDuplicates();
    }

    @Test
    void aRunWithoutLossesHasAxesOnly() throws Exception {
        assertThat(elements(history(0), "polyline"))
                .allSatisfy(line -> assertThat(value(line, "style"))
                        .matches("stroke: #444|stroke: #(9db8d9|c0392b); stroke-width: 2"));
        assertThat(LossCurve.text(history(0))).contains("0.00 |").contains("1 steps");
    }

    @Test
    void theTextShowsHighLossesAboveLowOnes() {
        List<String> lines = LossCurve.text(history(100)).lines().toList();
        assertThat(lines.getFirst()).startsWith("  6.00 |").contains(".");
        assertThat(lines.get(13)).startsWith("  2.00 |").endsWith(".");
        assertThat(LossCurve.text(history(100))).contains("o").contains("100 steps");
    }

    private static List<String> labels(LossHistory history) throws Exception {
        return nodes(history, "text").stream()
                .map(text -> text.getTextContent() + " " + value(text.getAttributes(), "x") + " "
                        + value(text.getAttributes(), "y"))
                .toList();
    }

    /** Losses from 1 to 3 lie between 364 and 44, their labels 4 lower; 10 steps between 48 and 616. */
    @Test
    void theAxesNameLossesAndStepsWhereTheyAreDrawn() throws Exception {
        LossHistory history = LossHistory.of(List.of(3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0), List.of());
        assertThat(labels(history))
                .containsExactly(
                        "1.0 40.0 368.0",
                        "1.4 40.0 304.0",
                        "1.8 40.0 240.0",
                        "2.2 40.0 176.0",
                        "2.6 40.0 112.0",
                        "3.0 40.0 48.0",
                        "0 48.0 380.0",
                        "2 161.6 380.0",
                        "4 275.2 380.0",
                        "6 388.8 380.0",
                        "8 502.4 380.0",
                        "10 616.0 380.0",
                        "steps 332.0 396.0",
                        "training loss 526.0 18.0",
                        "validation loss 526.0 34.0");
        assertThat(line(history, "stroke: #9db8d9; stroke-width: 2")).containsExactly("502.0,14.0", "518.0,14.0");
    }

    /** The axis ends at halves. */
    @Test
    void lossesThatAreAllTheSameHaveAnAxisOfAHalf() throws Exception {
        assertThat(labels(LossHistory.of(List.of(2.0), List.of()))).contains("2.0 40.0 368.0", "2.5 40.0 48.0");
        assertThat(labels(LossHistory.of(List.of(2.1), List.of()))).contains("2.0 40.0 368.0", "2.5 40.0 48.0");
    }

    /** A window's loss may lie far from its neighbours': from 200 steps on, two are averaged. */
    @Test
    void longRunsAreSmoothed() throws Exception {
        List<Double> losses =
                IntStream.range(0, 200).mapToObj(i -> i % 2 == 0 ? 1.0 : 3.0).toList();
        List<String> points = line(LossHistory.of(losses, List.of()), "stroke: #9db8d9");
        assertThat(points.getFirst()).endsWith(",364.0");
        assertThat(points.get(1)).isEqualTo("53.7,44.0");
        assertThat(points.getLast()).isEqualTo("616.0,44.0");
    }

    @Test
    void theTextIsAPictureOfBoth() {
        LossHistory history = LossHistory.of(
                List.of(3.0, 2.0, 1.5, 1.0),
                List.of(new LossHistory.Validation(2, 2.7), new LossHistory.Validation(4, 1.0)));
        assertThat(LossCurve.text(history)).isEqualToNormalizingNewlines(TEXT);
    }
}
