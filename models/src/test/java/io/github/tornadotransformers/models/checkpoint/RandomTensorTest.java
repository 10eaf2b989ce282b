package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RandomTensorTest {
    private static final int COUNT = 1 << 20;

    private static double[] elements(double mean, double deviation) {
        RandomTensor tensor = new RandomTensor(42, "h.0.attn.c_attn.weight", mean, deviation);
        double[] elements = new double[COUNT];
        Arrays.setAll(elements, tensor::element);
        return elements;
    }

    @Test
    void meanAndDeviationAreAsAsked() {
        double[] elements = elements(1, 0.1);
        double mean = Arrays.stream(elements).average().orElseThrow();
        double variance = Arrays.stream(elements)
                .map(x -> (x - mean) * (x - mean))
                .average()
                .orElseThrow();

        assertThat(mean).isCloseTo(1, within(1e-3));
        assertThat(Math.sqrt(variance)).isCloseTo(0.1, within(1e-3));
    }

    @Test
    void aboutTwoThirdsLieWithinOneDeviation() {
        long within = Arrays.stream(elements(0, 1)).filter(x -> Math.abs(x) < 1).count();
        assertThat((double) within / COUNT).isCloseTo(0.67, within(0.02));
    }

    @Test
    void neighboursAreIndependent() {
        double[] elements = elements(0, 1);
        double product = 0;
        for (int i = 1; i < COUNT; i++) {
            product += elements[i] * elements[i - 1];
        }
        assertThat(product / COUNT).isCloseTo(0, within(5e-3));
    }

    @Test
    void aPartIsThatOfTheWhole() {
        RandomTensor tensor = new RandomTensor(1, "a", 0, 1);
        float[] whole = new float[100];
        tensor.read(0, whole, 100);
        float[] part = new float[30];
        tensor.read(70, part, 30);

        assertThat(part).isEqualTo(Arrays.copyOfRange(whole, 70, 100));
    }

    @Test
    void namesAndSeedsGiveOtherNumbers() {
        float element = new RandomTensor(1, "a", 0, 1).element(0);

        assertThat(new RandomTensor(1, "b", 0, 1).element(0)).isNotEqualTo(element);
        assertThat(new RandomTensor(2, "a", 0, 1).element(0)).isNotEqualTo(element);
    }

    /** Golden values elsewhere rest on these numbers: they may not change. */
    @Test
    void theNumbersAreThoseTheyHaveAlwaysBeen() {
        RandomTensor tensor = new RandomTensor(42, "wte.weight", 0, 1);
        assertThat(new float[] {tensor.element(0), tensor.element(1), tensor.element(1L << 33)})
                .containsExactly(0.5277342f, 0.33017746f, 0.2343195f);
    }
}
