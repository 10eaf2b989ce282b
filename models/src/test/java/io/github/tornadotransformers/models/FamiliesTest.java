package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every family, whatever it is. */
class FamiliesTest {
    private static final int SEEDS = 30;

    static Stream<Arguments> families() {
        return ModelFamilies.all().stream().map(family -> Arguments.of(family.modelType(), family));
    }

    static Stream<Arguments> models() {
        return ModelFamilies.all().stream()
                .flatMap(family -> Stream.concat(family.examples().stream(), randomModels(family))
                        .map(config -> Arguments.of(family.modelType(), family, config)));
    }

    private static Stream<ModelConfig> randomModels(ModelFamily<?> family) {
        return IntStream.range(0, SEEDS).mapToObj(seed -> RandomConfigs.of(family, new RandomData(seed)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("families")
    void examplesAreWhatTestsNeed(String name, ModelFamily<?> family) {
        assertThat(family.examples()).hasSizeGreaterThanOrEqualTo(2).allSatisfy(config -> {
            assertThat(config.modelType()).isEqualTo(family.modelType());
            assertThat(config.contextLength()).isGreaterThanOrEqualTo(40);
            assertThat(config.vocabSize()).isGreaterThanOrEqualTo(61);
        });
        assertThat(family.examples())
                .anySatisfy(config -> assertThat(config.heads().headDim() % 8).isNotZero());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("families")
    void publishedModelsHavePrograms(String name, ModelFamily<?> family) {
        family.published().forEach((model, config) -> {
            assertThat(config.program(1).layers()).isEqualTo(config.layers());
            assertThat(described(family, config)).as(model).isEqualTo(config);
        });
    }

    @ParameterizedTest(name = "{0} {index}")
    @MethodSource("models")
    void whatIsDescribedIsParsed(String name, ModelFamily<?> family, ModelConfig config) {
        assertThat(described(family, config)).isEqualTo(config);
    }

    private static ModelConfig described(ModelFamily<?> family, ModelConfig config) {
        return fields(family, config).parse();
    }

    private static <C extends ModelConfig> ConfigFields fields(ModelFamily<C> family, ModelConfig config) {
        return ConfigFields.of(family, family.configType().cast(config));
    }

    /** A warm-up compiles what a model needs only if its miniature needs it, too. */
    @ParameterizedTest(name = "{0} {index}")
    @MethodSource("models")
    void aMiniatureHasTheSameKindsOfOps(String name, ModelFamily<?> family, ModelConfig config) {
        ModelConfig miniature = config.miniature();
        assertThat(kinds(miniature)).containsAll(kinds(config));
        assertThat(miniature.parameters()).isLessThan(1_000_000);
    }

    private static Set<String> kinds(ModelConfig config) {
        return config.program(1).ops().stream().map(FamiliesTest::kind).collect(Collectors.toSet());
    }

    private static String kind(Op op) {
        String loop = op.loop() + " " + op.effect();
        return switch (op) {
            case Op.Linear linear -> loop + " " + linear.activation();
            case Op.GatedMlp mlp -> loop + " " + mlp.activation();
            case Op.AttentionScores scores -> loop + " " + scores.scaling().isCapped();
            default -> loop;
        };
    }

    @ParameterizedTest(name = "{0} {index}")
    @MethodSource("models")
    void layersMayBeFewerOrMoreOfTheSamePattern(String name, ModelFamily<?> family, ModelConfig config) {
        int layers = config.layers();
        assertThat(config.withLayers(layers)).isEqualTo(config);
        ModelConfig more = config.withLayers(2 * layers);
        assertThat(more.layers()).isEqualTo(2 * layers);
        assertThat(described(family, more)).isEqualTo(more);
        List<Block> blocks = more.program(1).blocks();
        assertThat(blocks.subList(layers, 2 * layers)).isEqualTo(blocks.subList(0, layers));
        assertThat(more.withLayers(layers)).isEqualTo(config);
        assertThat(config.withLayers(1).program(1).layers()).isOne();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("families")
    void quantizedWeightsAreRefusedByName(String name, ModelFamily<?> family) {
        assertThat(fields(family, family.examples().getFirst())
                        .with("quantization_config", "{'quant_method':'gptq'}")
                        .rejection())
                .contains("quantization_config is {\"quant_method\":\"gptq\"}, which is not implemented");
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "gpt2 | activation_function | 'relu'",
                "gpt2 | scale_attn_by_inverse_layer_idx | true",
                "gpt2 | add_cross_attention | true",
                "llama | hidden_act | 'relu2'",
                "qwen2 | hidden_act | 'relu2'",
                "qwen2 | layer_types | ['chunked_attention','full_attention','full_attention']",
                "qwen2 | partial_rotary_factor | 0.5",
                "qwen2 | rope_scaling | {'rope_type':'dynamic','factor':2}",
                "qwen2 | use_bidirectional_attention | true",
                "qwen3 | hidden_act | 'relu2'",
                "qwen3 | rope_scaling | {'rope_type':'proportional'}",
                "qwen3 | partial_rotary_factor | 0.5",
                "mistral | layer_types | ['full_attention']",
                "mistral | hidden_act | 'relu2'",
                "mistral | rope_scaling | {'type':'dynamic','factor':2}",
                "gemma2 | hidden_activation | 'relu2'",
                "gemma2 | use_bidirectional_attention | true",
                "gemma2 | layer_types | ['linear_attention','full_attention','full_attention']",
                "gemma3_text | attn_logit_softcapping | 50",
                "gemma3_text | hidden_activation | 'relu2'",
                "gemma3_text | use_bidirectional_attention | true",
                "phi3 | layer_types | ['full_attention']",
                "phi3 | hidden_act | 'relu2'",
                "phi3 | rope_scaling | {'type':'dynamic','factor':2}",
                "granite | hidden_act | 'relu2'",
                "granite | partial_rotary_factor | 0.5",
                "granite | rope_scaling | {'type':'dynamic','factor':2}",
                "olmo2 | hidden_act | 'relu2'",
                "olmo2 | rope_scaling | {'type':'dynamic','factor':2}",
                "smollm3 | hidden_act | 'relu2'",
                "smollm3 | layer_types | ['sliding_attention','chunked_attention','full_attention']",
                "smollm3 | rope_scaling | {'type':'dynamic','factor':2}",
            })
    void whatIsNotImplementedIsRefusedByName(String modelType, String field, String value) {
        ModelFamily<?> family = ModelFamilies.all().stream()
                .filter(each -> each.modelType().equals(modelType))
                .findFirst()
                .orElseThrow();
        assertThat(fields(family, family.examples().getFirst())
                        .with(field, value)
                        .rejection())
                .contains(field)
                .contains("which is not implemented; implemented: ");
    }
}
