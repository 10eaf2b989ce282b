package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.Arrays;
import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The parts of a trainer by themselves. */
class TrainerTest {
    private static final int CONTEXT = 10;

    @Test
    void theLearningRateRisesInALineAndFallsAsACosine() {
        TrainingSettings settings = new TrainingSettings(101, 8, 1, 1.0, 0.1, 20, 0, 0.9, 0.99, 1e-8, 1, 10, 1);
        assertThat(settings.learningRateAt(0)).isCloseTo(0.05f, within(1e-6f));
        assertThat(settings.learningRateAt(19)).isEqualTo(1f);
        assertThat(settings.learningRateAt(20)).isEqualTo(1f);
        assertThat(settings.learningRateAt(60)).isCloseTo(0.55f, within(1e-6f));
        assertThat(settings.learningRateAt(100)).isCloseTo(0.1f, within(1e-6f));
    }

    @Test
    void anEpochShowsEveryWindowOnceAndEachEpochCutsElsewhere() {
        int[] ids = IntStream.range(0, 105).toArray();
        WindowSampler sampler = new WindowSampler(ids, CONTEXT, 5, OptionalInt.empty(), -1);
        int windows = sampler.windowsPerEpoch();
        assertThat(windows).isEqualTo(9);
        Set<Integer> offsets = new HashSet<>();
        for (int epoch = 0; epoch < 6; epoch++) {
            Set<Integer> starts = new HashSet<>();
            for (int i = 0; i < windows; i++) {
                int[] window = sampler.window((long) epoch * windows + i);
                assertThat(window).hasSize(CONTEXT + 1);
                assertThat(window)
                        .isEqualTo(IntStream.rangeClosed(window[0], window[0] + CONTEXT)
                                .toArray());
                starts.add(window[0]);
            }
            assertThat(starts).hasSize(windows);
            assertThat(starts.stream().map(start -> start % CONTEXT).distinct()).hasSize(1);
            offsets.add(starts.iterator().next() % CONTEXT);
        }
        assertThat(offsets).hasSizeGreaterThan(1);
    }

    @Test
    void aSamplerRemembersNothing() {
        int[] ids = IntStream.range(0, 1000).toArray();
        WindowSampler all = new WindowSampler(ids, CONTEXT, 5, OptionalInt.of(7), -1);
        WindowSampler other = new WindowSampler(ids, CONTEXT, 6, OptionalInt.of(7), -1);
        boolean differs = false;
        for (long i = 0; i < 300; i++) {
            int[] window = all.window(i);
            assertThat(new WindowSampler(ids, CONTEXT, 5, OptionalInt.of(7), -1).window(i))
                    .isEqualTo(window);
            differs |= !Arrays.equals(other.window(i), window);
        }
        assertThat(differs).isTrue();
    }

    @Test
    void someWindowsBeginWithTheStartTokenAndAParagraph() {
        int newline = 0;
        int[] ids = new int[400];
        Arrays.fill(ids, 1);
        for (int at = 20; at < 380; at += 40) {
            ids[at] = newline;
            ids[at + 1] = newline;
            ids[at + 2] = 5;
        }
        WindowSampler sampler = new WindowSampler(ids, CONTEXT, 1, OptionalInt.of(9), newline);
        int found = 0;
        for (int i = 0; i < sampler.windowsPerEpoch(); i++) {
            int[] window = sampler.window(i);
            assertThat(Arrays.copyOfRange(window, 1, window.length)).doesNotContain(9);
            if (window[0] == 9) {
                found++;
                assertThat(window[1]).isEqualTo(5);
            }
        }
        assertThat(found).isBetween(1, 5);
    }

    /** The next one at or behind the window's own start; a paragraph follows two newlines and is long enough for a window. */
    @Test
    void everyEighthWindowMovesToTheNextParagraph() {
        int newline = 0;
        int[] ids = IntStream.range(0, 317).map(i -> 10 + i).toArray();
        for (int at : new int[] {
            0, 1, 40, 41, 60, 90, 91, 92, 150, 152, 200, 201, ids.length - CONTEXT - 2, ids.length - CONTEXT - 1
        }) {
            ids[at] = newline;
        }
        ids[ids.length - CONTEXT] = newline; // after two others, and too late for one more paragraph
        int[] paragraphs = {2, 42, 92, 93, 202, ids.length - CONTEXT};
        WindowSampler plain = new WindowSampler(ids, CONTEXT, 5, OptionalInt.empty(), newline);
        WindowSampler moving = new WindowSampler(ids, CONTEXT, 5, OptionalInt.of(9), newline);
        Set<Integer> moved = new HashSet<>();
        int unmoved = 0;
        for (int i = 0; i < 6000; i++) {
            int[] window = plain.window(i);
            int inside = IntStream.range(0, window.length)
                    .filter(at -> window[at] != newline)
                    .findFirst()
                    .orElseThrow();
            int start = window[inside] - 10 - inside;
            int[] behind = IntStream.of(paragraphs)
                    .filter(each -> each >= start)
                    .limit(1)
                    .toArray();
            if (i % 8 != 0 || behind.length == 0) {
                assertThat(moving.window(i)).as("window %d at %d", i, start).isEqualTo(window);
                unmoved += i % 8 == 0 ? 1 : 0;
                continue;
            }
            int[] expected = IntStream.concat(
                            IntStream.of(9), IntStream.of(Arrays.copyOfRange(ids, behind[0], behind[0] + CONTEXT)))
                    .toArray();
            assertThat(moving.window(i)).as("window %d at %d", i, start).isEqualTo(expected);
            moved.add(behind[0]);
        }
        assertThat(moved).containsExactlyInAnyOrder(2, 42, 92, 93, 202, ids.length - CONTEXT);
        assertThat(unmoved).isZero();
    }

    /** Where no paragraph is left, a window stays where it is. */
    @Test
    void windowsBehindTheLastParagraphStay() {
        int[] ids = IntStream.range(0, 100).map(i -> 10 + i).toArray();
        ids[8] = 0;
        ids[9] = 0;
        WindowSampler moving = new WindowSampler(ids, CONTEXT, 5, OptionalInt.of(9), 0);
        WindowSampler plain = new WindowSampler(ids, CONTEXT, 5, OptionalInt.empty(), 0);
        int stayed = 0;
        for (int i = 0; i < 800; i += 8) {
            if (plain.window(i)[CONTEXT] - 10 - CONTEXT > 10) {
                assertThat(moving.window(i)).isEqualTo(plain.window(i));
                stayed++;
            }
        }
        assertThat(stayed).isPositive();
    }

    @Test
    void windowsOfATextOfOneWindowAreThatWindow() {
        int[] ids = IntStream.range(0, CONTEXT + 1).toArray();
        WindowSampler sampler = new WindowSampler(ids, CONTEXT, 1, OptionalInt.empty(), -1);
        assertThat(sampler.window(0)).isEqualTo(ids);
        assertThat(sampler.window(99)).isEqualTo(ids);
    }

    private static TrainingSettings decaying(double decay) {
        return new TrainingSettings(10, 8, 1, 0.01, 0.01, 0, decay, 0.9, 0.95, 1e-8, 1, 10, 1);
    }

    private static ParameterArrays filled(Program program, float value) {
        ParameterArrays arrays = new ParameterArrays(program);
        for (Weight weight : arrays.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                Arrays.fill(arrays.layer(weight, layer), value);
            }
        }
        return arrays;
    }

    /** The formula of the paper, in double. */
    @Test
    void adamWFollowsItsPaper() {
        Program program = TinyTraining.gpt2().program(4);
        ParameterArrays weights = filled(program, 0.5f);
        AdamW optimizer = new AdamW(program, decaying(0));
        double weight = 0.5;
        double mean = 0;
        double square = 0;
        for (int step = 0; step < 5; step++) {
            float gradient = 0.3f - 0.2f * step;
            optimizer.step(weights, filled(program, gradient), step, 0.01f, 0.5f);
            double scaled = 0.5 * gradient;
            mean = 0.9 * mean + 0.1 * scaled;
            square = 0.95 * square + 0.05 * scaled * scaled;
            double corrected = mean / (1 - Math.pow(0.9, step + 1));
            weight -= 0.01 * corrected / (Math.sqrt(square / (1 - Math.pow(0.95, step + 1))) + 1e-8);
            assertThat((double) weights.layer(weights.weights().getFirst(), 0)[0])
                    .as("after step " + step)
                    .isCloseTo(weight, within(1e-6));
        }
    }

    @Test
    void onlyTheMatricesOfLinearLayersDecay() {
        for (boolean tied : new boolean[] {true, false}) {
            ModelConfig config = new Gpt2Config(new Sizes(20, 8, 6, 12, 1), 2, 1e-5f, true, tied);
            Program program = config.program(8);
            ParameterArrays weights = filled(program, 1f);
            new AdamW(program, decaying(0.5)).step(weights, new ParameterArrays(program), 0, 0.01f, 1f);
            for (Weight weight : weights.weights()) {
                boolean matrix =
                        weight.kind() == Weight.Kind.MATRIX && !weight.name().equals("tokenEmbedding");
                assertThat(weights.layer(weight, 0)[0]).as(weight.name()).isEqualTo(matrix ? 1f - 0.01f * 0.5f : 1f);
            }
            assertThat(weights.weights().stream()
                            .anyMatch(weight -> weight.name().equals("lmHead")))
                    .isEqualTo(!tied);
        }
    }

    @Test
    void firstWeightsHaveTheDeviationOfTheirRole() {
        Program program = new Gpt2Config(new Sizes(2000, 16, 192, 768, 4), 4, 1e-5f, true, true).program(16);
        ParameterArrays weights = InitialWeights.of(program, 3);
        for (Weight weight : weights.weights()) {
            double expected = switch (weight.name()) {
                case "tokenEmbedding", "qkvProjWeight", "upProjWeight" -> 0.04;
                case "oProjWeight", "downProjWeight" -> 0.04 / Math.sqrt(8);
                case "positionEmbedding" -> 0.02;
                default -> 0;
            };
            float[] values = weights.layer(weight, 0);
            double mean = IntStream.range(0, values.length)
                    .mapToDouble(i -> values[i])
                    .average()
                    .orElseThrow();
            double square = IntStream.range(0, values.length)
                    .mapToDouble(i -> (values[i] - mean) * (values[i] - mean))
                    .average()
                    .orElseThrow();
            assertThat(Math.sqrt(square)).as(weight.name()).isCloseTo(expected, within(0.05 * expected));
            assertThat(mean).as(weight.name()).isCloseTo(weight.name().endsWith("NormWeight") ? 1 : 0, within(2e-3));
        }
    }

    @Test
    void everyTensorIsReadInTheCheckpointsOrder() {
        Program program = TinyTraining.llama().program(4);
        ParameterArrays arrays = new ParameterArrays(program);
        assertThat(CheckpointTensor.of(program, name -> "model." + name))
                .extracting(CheckpointTensor::name)
                .hasSize(2 + 9 * program.layers() + 1)
                .contains("model.norm.weight", "model.layers.1.self_attn.k_proj.weight");
        for (CheckpointTensor tensor : CheckpointTensor.of(program, name -> name)) {
            float[] layer = arrays.layer(tensor.weight(), tensor.layer());
            for (int i = 0; i < layer.length; i++) {
                layer[i] = i;
            }
            int columns = tensor.weight().columns();
            assertThat(tensor.elements()).isEqualTo(tensor.shape().stream().reduce(1L, Math::multiplyExact));
            int minor = (int) (tensor.elements() / tensor.shape().getFirst());
            float[] all = new float[(int) tensor.elements()];
            tensor.read(arrays, 0, all, all.length);
            for (int i = 0; i < all.length; i++) {
                int row = tensor.part().transposed() ? i % minor : i / minor;
                int column = tensor.part().transposed() ? i / minor : i % minor;
                if (tensor.shape().size() == 1) {
                    row = 0;
                    column = i;
                }
                assertThat(all[i])
                        .as(tensor.name() + " at " + i)
                        .isEqualTo(row * columns + tensor.part().firstColumn() + column);
            }
            float[] some = new float[all.length / 3];
            tensor.read(arrays, all.length / 2, some, some.length);
            assertThat(some).isEqualTo(Arrays.copyOfRange(all, all.length / 2, all.length / 2 + some.length));
        }
    }

    /** A run that goes on with a later version of this program sees the windows that it would have seen. */
    @Test
    void theOrderOfWindowsIsThatOfTheSeedForGood() {
        WindowSampler sampler =
                new WindowSampler(IntStream.range(0, 65).toArray(), CONTEXT, 5, OptionalInt.empty(), -1);
        assertThat(sampler.windowsPerEpoch()).isEqualTo(5);
        assertThat(IntStream.range(5, 15).map(i -> sampler.window(i)[0]))
                .containsExactly(14, 34, 24, 54, 44, 43, 33, 3, 13, 23);
    }

    @Test
    void firstWeightsAreThoseOfTheSeedForGood() {
        Program program = TinyTraining.llama().program(4);
        ParameterArrays weights = InitialWeights.of(program, 3);
        Weight up = weights.weights().stream()
                .filter(weight -> weight.name().equals("gateUpProjWeight"))
                .findFirst()
                .orElseThrow();
        assertThat(Arrays.copyOf(weights.layer(up, 0), 3)).containsExactly(0.14498356f, 0.0071856924f, 0.08511884f);
        assertThat(Arrays.copyOf(weights.layer(up, 1), 3)).containsExactly(-0.08926606f, -0.18189143f, 0.12276355f);
    }

    @Test
    void everyNormOfEveryLayerBeginsAtOne() {
        for (ModelConfig config : new ModelConfig[] {TinyTraining.gpt2(), TinyTraining.llama()}) {
            ParameterArrays weights = InitialWeights.of(config.program(4), 3);
            for (Weight weight : weights.weights()) {
                for (int layer = 0; layer < weight.layers() && weight.name().endsWith("NormWeight"); layer++) {
                    assertThat(weights.layer(weight, layer)).as(weight.name()).containsOnly(1f);
                }
            }
        }
    }

    /** Those of a part of a fused weight leave out its neighbours. */
    @Test
    void momentsAreOfATensorsOwnElements() {
        Program program = TinyTraining.llama().program(4);
        ParameterArrays arrays = filled(program, 1f);
        for (CheckpointTensor tensor : CheckpointTensor.of(program, name -> name)) {
            Arrays.fill(arrays.layer(tensor.weight(), tensor.layer()), 100f);
            int columns = tensor.weight().columns();
            for (int row = 0; row < tensor.weight().rows(); row++) {
                int from = row * columns + tensor.part().firstColumn();
                Arrays.fill(
                        arrays.layer(tensor.weight(), tensor.layer()),
                        from,
                        from + tensor.part().columns(),
                        -3f);
            }
            long elements = tensor.elements();
            assertThat(tensor.moments(arrays))
                    .as(tensor.name())
                    .isEqualTo(new CheckpointTensor.Moments(-3.0 * elements, Math.sqrt(9.0 * elements)));
        }
    }
}
