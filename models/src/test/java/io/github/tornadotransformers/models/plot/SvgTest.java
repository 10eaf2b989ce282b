package io.github.tornadotransformers.models.plot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class SvgTest {
    @Test
    void everyShapeIsOneElement() {
        Svg.Point at = new Svg.Point(1, 2.25);
        assertThat(new Svg(30, 20, "what \"it\" shows")
                        .rules("text { fill: red }")
                        .line(List.of(at, new Svg.Point(3, 4)), "stroke: red")
                        .dot(at, 2, "fill: red")
                        .bar(at, 5, 6, "fill: red", "a < b")
                        .text(at, Svg.Anchor.MIDDLE, "", "a & b")
                        .slanted(at, 35, Svg.Anchor.END, "a > b")
                        .markup())
                .isEqualTo(
                        "<svg viewBox=\"0 0 30 20\" role=\"img\""
                                + " aria-label=\"what &quot;it&quot; shows\"><style>text { fill: red }</style>"
                                + "<polyline points=\"1.0,2.3 3.0,4.0\" fill=\"none\" style=\"stroke: red\"/>"
                                + "<circle cx=\"1.0\" cy=\"2.3\" r=\"2.0\" style=\"fill: red\"/>"
                                + "<rect x=\"1.0\" y=\"2.3\" width=\"5.0\" height=\"6.0\" style=\"fill: red\">"
                                + "<title>a &lt; b</title></rect>"
                                + "<text x=\"1.0\" y=\"2.3\" text-anchor=\"middle\" style=\"\">a &amp; b</text>"
                                + "<text transform=\"translate(1.0 2.3) rotate(35)\" text-anchor=\"end\">a &gt; b</text></svg>");
    }

    @Test
    void aFileNamesItsNamespace() {
        assertThat(new Svg(1, 1, "").file())
                .startsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=")
                .endsWith("</svg>\n");
    }

    @Test
    void numbersDoNotDependOnTheLocale() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            assertThat(new Svg(1, 1, "").dot(new Svg.Point(0.5, 0.5), 1, "").markup())
                    .contains("cx=\"0.5\"");
        } finally {
            Locale.setDefault(before);
        }
    }
}
