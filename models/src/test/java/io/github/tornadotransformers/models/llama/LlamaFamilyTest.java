package io.github.tornadotransformers.models.llama;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ConfigFields;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LlamaFamilyTest {
    private static final LlamaConfig CONFIG = new LlamaConfig(
            new Sizes(100, 64, 48, 96, 2),
            new Heads(6, 2, 8),
            new Rope(10_000, 8, new RopeScaling.None()),
            1e-6f,
            false,
            false,
            false);

    private static final String LLAMA3 =
            "'rope_type':'llama3','factor':8,'low_freq_factor':1,'high_freq_factor':4,'original_max_position_embeddings':32";

    private final ConfigFields fields = ConfigFields.of(new LlamaFamily(), CONFIG);

    private static LlamaConfig parsed(ConfigFields fields) {
        return (LlamaConfig) fields.parse();
    }

    private RopeScaling scalingOf(String ropeScaling) {
        return parsed(fields.with("rope_scaling", ropeScaling)).rope().scaling();
    }

    @Test
    void whatIsDescribedIsParsed() {
        assertThat(fields.parse()).isEqualTo(CONFIG);
    }

    @Test
    void whatLlama2sConfigLacksHasItsDefault() {
        ConfigFields older = fields.without("head_dim")
                .without("rope_theta")
                .without("rms_norm_eps")
                .without("hidden_act")
                .without("attention_bias")
                .without("mlp_bias")
                .without("tie_word_embeddings");

        assertThat(older.parse()).isEqualTo(CONFIG);
    }

    @Test
    void withoutContextLengthItIs2048() {
        assertThat(parsed(fields.without("max_position_embeddings")).contextLength())
                .isEqualTo(2048);
    }

    @Test
    void keyValueHeadsAreTheHeadsUnlessGiven() {
        assertThat(parsed(fields.without("num_key_value_heads")).heads().kvHeads())
                .isEqualTo(6);
        assertThat(parsed(fields.with("num_key_value_heads", "null")).heads().kvHeads())
                .isEqualTo(6);
    }

    @Test
    void theHeadDimensionNeedNotBeHiddenSizeByHeads() {
        LlamaConfig config = parsed(fields.with("hidden_size", "1792")
                .with("num_attention_heads", "24")
                .with("num_key_value_heads", "8")
                .with("head_dim", "128"));

        assertThat(config.heads().headDim()).isEqualTo(128);
    }

    @Test
    void keyValueHeadsMustDivideTheHeads() {
        assertThat(fields.with("num_attention_heads", "7").rejection())
                .contains("num_attention_heads 7 is not divisible by num_key_value_heads 2");
    }

    @Test
    void withoutHeadDimensionTheHeadsMustDivideTheHiddenSize() {
        assertThat(fields.without("head_dim").with("hidden_size", "50").rejection())
                .contains("hidden_size 50 is not divisible by num_attention_heads 6, and there is no head_dim");
    }

    @Test
    void anOddHeadDimensionIsRefused() {
        assertThat(fields.with("head_dim", "7").rejection()).contains("the head dimension is 7", "an even number");
        assertThat(fields.without("head_dim").with("hidden_size", "42").rejection())
                .contains("the head dimension is 7", "an even number");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'linear','factor':2}",
                "{'rope_type':'linear','factor':2}",
                "{'rope_type':'linear','type':'linear','factor':2.0}"
            })
    void linearScalingIsReadInEverySpelling(String ropeScaling) {
        assertThat(scalingOf(ropeScaling)).isEqualTo(new RopeScaling.Linear(2));
    }

    @Test
    void llama3ScalingIsRead() {
        assertThat(scalingOf("{" + LLAMA3 + "}")).isEqualTo(new RopeScaling.Llama3(8, 1, 4, 32));
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "{}", "{'rope_type':'default'}", "{'type':null}"})
    void noScalingIsReadInEverySpelling(String ropeScaling) {
        assertThat(scalingOf(ropeScaling)).isEqualTo(new RopeScaling.None());
    }

    @Test
    void theNewerSpellingHoldsThetaAndScaling() {
        LlamaConfig config =
                parsed(fields.without("rope_theta").with("rope_parameters", "{'rope_theta':500000.0," + LLAMA3 + "}"));

        assertThat(config.rope().theta()).isEqualTo(500_000);
        assertThat(config.rope().scaling()).isEqualTo(new RopeScaling.Llama3(8, 1, 4, 32));
    }

    @Test
    void theNewerSpellingMayLeaveThetaToTheTopLevel() {
        LlamaConfig config = parsed(fields.with("rope_theta", "77").with("rope_parameters", "{'rope_type':'default'}"));

        assertThat(config.rope().theta()).isEqualTo(77);
    }

    @Test
    void twoThetasThatDifferAreRefused() {
        assertThat(fields.with("rope_parameters", "{'rope_theta':5}").rejection())
                .contains("rope_theta is 10000.0, but 5.0 in rope_parameters");
    }

    @Test
    void twoScalingsThatDifferAreRefused() {
        assertThat(fields.with("rope_scaling", "{'type':'linear','factor':2}")
                        .with("rope_parameters", "{'rope_type':'linear','factor':3}")
                        .rejection())
                .contains("rope_scaling and rope_parameters differ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"low_freq_factor", "high_freq_factor", "factor", "original_max_position_embeddings"})
    void llama3ScalingNamesTheFieldItLacks(String field) {
        String without = LLAMA3.replaceAll("'" + field + "':\\d+", "'x':1");
        assertThat(fields.with("rope_scaling", "{" + without + "}").rejection())
                .contains("rope_scaling." + field + " is missing, expected a number above 0");
    }

    @Test
    void llama3ScalingNeedsItsFactorsInOrder() {
        String equal = LLAMA3.replace("'high_freq_factor':4", "'high_freq_factor':1");
        assertThat(fields.with("rope_scaling", "{" + equal + "}").rejection())
                .contains("rope_scaling.high_freq_factor is 1, expected more than low_freq_factor 1.0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "hidden_act | 'gelu' | hidden_act is \"gelu\"",
                "rope_scaling | {'rope_type':'dynamic','factor':2} | rope_scaling.rope_type is \"dynamic\"",
                "rope_parameters | {'rope_type':'ntk'} | rope_parameters.rope_type is \"ntk\"",
                "rope_parameters | {'partial_rotary_factor':0.5} | rope_parameters.partial_rotary_factor is 0.5",
                "quantization_config | {'quant_method':'gptq'} | quantization_config is {\"quant_method\":\"gptq\"}",
                "sliding_window | 4096 | sliding_window is 4096",
                "partial_rotary_factor | 0.5 | partial_rotary_factor is 0.5",
                "attention_multiplier | 0.1 | attention_multiplier is 0.1",
                "embedding_multiplier | 12 | embedding_multiplier is 12",
                "residual_multiplier | 0.2 | residual_multiplier is 0.2",
                "logits_scaling | 8 | logits_scaling is 8",
                "attn_logit_softcapping | 50 | attn_logit_softcapping is 50",
                "final_logit_softcapping | 30 | final_logit_softcapping is 30",
                "use_qk_norm | true | use_qk_norm is true",
                "add_cross_attention | true | add_cross_attention is true",
            })
    void whatIsNotImplementedIsRefusedWithFieldAndValue(String field, String value, String words) {
        assertThat(fields.with(field, value).rejection()).contains(words + ", which is not implemented");
    }

    @Test
    void neutralValuesOfWhatIsNotImplementedChangeNothing() {
        assertThat(fields.with("hidden_act", "'swish'")
                        .with("pretraining_tp", "4")
                        .with("quantization_config", "null")
                        .with("sliding_window", "4096")
                        .with("use_sliding_window", "false")
                        .with("partial_rotary_factor", "1.0")
                        .with("logits_scaling", "1")
                        .with("attention_dropout", "0.1")
                        .with("dtype", "'bfloat16'")
                        .parse())
                .isEqualTo(CONFIG);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "num_hidden_layers | 0 | num_hidden_layers is 0, expected a whole number from 1 to 65536",
                "num_attention_heads | '6' | num_attention_heads is \"6\", expected",
                "num_key_value_heads | 0 | num_key_value_heads is 0, expected",
                "head_dim | 1000000000 | head_dim is 1000000000, expected a whole number from 1 to 65536",
                "intermediate_size | 2000000000 | intermediate_size is 2000000000, expected",
                "max_position_embeddings | 1e12 | max_position_embeddings is 1.0E12, expected",
                "vocab_size | 1000000000000 | vocab_size is 1000000000000, expected",
                "rope_theta | 0 | rope_theta is 0, expected a number above 0",
                "rope_theta | '1e4' | rope_theta is \"1e4\", expected a number above 0",
                "rope_scaling | 2 | rope_scaling is 2, expected an object",
                "rope_scaling | {'type':2} | rope_scaling.type is 2, expected a text",
                "rope_scaling | {'type':'linear','factor':-1} | rope_scaling.factor is -1, expected a number above 0",
                "rms_norm_eps | true | rms_norm_eps is true, expected",
                "attention_bias | 'no' | attention_bias is \"no\", expected true or false",
            })
    void aValueOfTheWrongKindIsRefused(String field, String value, String words) {
        assertThat(fields.with(field, value).rejection()).contains(words);
    }

    @Test
    void sizesWhoseProductIsTooLargeAreRefused() {
        assertThat(fields.with("num_attention_heads", "2000000")
                        .with("num_key_value_heads", "2000000")
                        .with("head_dim", "65536")
                        .rejection())
                .contains("* head dimension 65536 is more than 2147483647");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"})
    void aMissingSizeIsNamed(String field) {
        assertThat(fields.without(field).rejection()).contains(field + " is missing, expected a whole number");
    }
}
