package io.github.tornadotransformers.training.losses;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

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

    private static Map<Integer, Integer> colours(byte[] png) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        assertThat(image.getWidth()).isEqualTo(640);
        assertThat(image.getHeight()).isEqualTo(400);
        Map<Integer, Integer> counts = new TreeMap<>();
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                counts.merge(image.getRGB(x, y) & 0xFFFFFF, 1, Integer::sum);
            }
        }
        return counts;
    }

    @Test
    void thePictureIsAPngWithBothCurvesAndAxes() throws IOException {
        Map<Integer, Integer> colours = colours(LossCurve.png(history(100)));
        assertThat(colours.keySet()).containsExactlyInAnyOrder(0xFFFFFF, 0x444444, 0x9DB8D9, 0xC0392B);
        assertThat(colours.get(0x9DB8D9)).isGreaterThan(400);
        assertThat(colours.get(0xC0392B)).isGreaterThan(400);
    }

    @Test
    void aRunWithoutLossesHasAxesOnly() throws IOException {
        assertThat(colours(LossCurve.png(history(0))).get(0x444444)).isGreaterThan(800);
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
