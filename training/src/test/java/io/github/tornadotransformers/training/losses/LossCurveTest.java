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
import org.w3c.dom.NodeList;

class LossCurveTest {
    private static LossHistory history(int steps) {
        return LossHistory.of(
                IntStream.range(0, steps)
                        .mapToObj(i -> 2 + 4 * Math.exp(-i / 20.0))
                        .toList(),
                IntStream.range(1, steps / 10 + 1)
                        .mapToObj(i -> new LossHistory.Validation(10 * i, 3 + 3 * Math.exp(-i / 2.0)))
                        .toList());
    }

    /** The attributes of all elements of that name. */
    private static List<NamedNodeMap> elements(LossHistory history, String name) throws Exception {
        byte[] svg = LossCurve.svg(history).getBytes(StandardCharsets.UTF_8);
        NodeList found = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg))
                .getElementsByTagName(name);
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> found.item(i).getAttributes())
                .toList();
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
}
