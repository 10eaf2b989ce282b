package io.github.tornadotransformers.models.gpt2;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ConfigFields;
import io.github.tornadotransformers.models.Sizes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Gpt2FamilyTest {
    private static final Gpt2Config CONFIG = new Gpt2Config(new Sizes(100, 64, 24, 96, 2), 3, 1e-5f, true, true);

    private final ConfigFields fields = ConfigFields.of(new Gpt2Family(), CONFIG);

    private static Gpt2Config parsed(ConfigFields fields) {
        return (Gpt2Config) fields.parse();
    }

    @Test
    void whatIsDescribedIsParsed() {
        assertThat(fields.parse()).isEqualTo(CONFIG);
    }

    @Test
    void innerSizeIsFourTimesTheHiddenSizeUnlessGiven() {
        assertThat(parsed(fields.with("n_inner", "null")).sizes().intermediateSize())
                .isEqualTo(96);
        assertThat(parsed(fields.without("n_inner")).sizes().intermediateSize()).isEqualTo(96);
        assertThat(parsed(fields.with("n_inner", "50")).sizes().intermediateSize())
                .isEqualTo(50);
    }

    @Test
    void whatHuggingFacesOldestConfigLacksHasItsDefault() {
        ConfigFields oldest = fields.without("activation_function")
                .without("layer_norm_epsilon")
                .without("scale_attn_weights")
                .without("tie_word_embeddings");

        assertThat(oldest.parse()).isEqualTo(CONFIG);
    }

    @ParameterizedTest
    @ValueSource(strings = {"'gelu_new'", "'gelu_pytorch_tanh'", "null"})
    void theTanhFormOfGeluIsImplemented(String activation) {
        assertThat(fields.with("activation_function", activation).parse()).isEqualTo(CONFIG);
    }

    @Test
    void anyEpsilonIsTaken() {
        assertThat(parsed(fields.with("layer_norm_epsilon", "0.3")).layerNormEps())
                .isEqualTo(0.3f);
        assertThat(parsed(fields.with("layer_norm_epsilon", "0")).layerNormEps())
                .isZero();
    }

    @Test
    void fieldsOfTrainingAndOfHigherPrecisionChangeNothing() {
        assertThat(fields.with("reorder_and_upcast_attn", "true")
                        .with("attn_pdrop", "0.1")
                        .with("scale_attn_by_inverse_layer_idx", "false")
                        .with("quantization_config", "null")
                        .parse())
                .isEqualTo(CONFIG);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "activation_function | 'relu' | \"relu\"",
                "activation_function | 'gelu' | \"gelu\"",
                "scale_attn_by_inverse_layer_idx | true | true",
                "add_cross_attention | true | true",
                "quantization_config | {'bits':4} | {\"bits\":4}",
            },
            quoteCharacter = '`')
    void whatIsNotImplementedIsRefusedWithFieldAndValue(String field, String value, String shown) {
        assertThat(fields.with(field, value).rejection())
                .contains(field + " is " + shown + ", which is not implemented");
    }

    @Test
    void headsMustDivideTheHiddenSize() {
        assertThat(fields.with("n_head", "5").rejection()).contains("n_embd 24 is not divisible by n_head 5");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e4", "10000.0", "10000"})
    void aWholeNumberMayBeWrittenInAnyWay(String number) {
        assertThat(parsed(fields.with("vocab_size", number)).vocabSize()).isEqualTo(10_000);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "vocab_size | '100' | vocab_size is \"100\", expected a whole number of at least 1",
                "vocab_size | 1000000000000 | vocab_size is 1000000000000, expected a whole number",
                "vocab_size | 1e300 | vocab_size is 1.0E300, expected",
                "vocab_size | 123456789012345678901234567890 | vocab_size is 123456789012345678901234567890, expected",
                "vocab_size | 0 | vocab_size is 0, expected",
                "vocab_size | -5 | vocab_size is -5, expected",
                "vocab_size | 1.5 | vocab_size is 1.5, expected",
                "vocab_size | null | vocab_size is null, expected",
                "vocab_size | [100] | vocab_size is [100], expected",
                "vocab_size | {} | vocab_size is {}, expected",
                "vocab_size | true | vocab_size is true, expected",
                "n_layer | 0 | n_layer is 0, expected a whole number from 1 to 65536",
                "n_layer | 2000000000 | n_layer is 2000000000, expected a whole number from 1 to 65536",
                "n_embd | 2147483647 | n_embd is 2147483647, expected a whole number from 1 to 536870911",
                "n_head | 0 | n_head is 0, expected",
                "n_positions | 0 | n_positions is 0, expected",
                "n_inner | 0 | n_inner is 0, expected",
                "layer_norm_epsilon | 'small' | layer_norm_epsilon is \"small\", expected a small number",
                "layer_norm_epsilon | -1 | layer_norm_epsilon is -1, expected",
                "layer_norm_epsilon | 1e999 | layer_norm_epsilon is Infinity, expected",
                "tie_word_embeddings | 1 | tie_word_embeddings is 1, expected true or false",
                "activation_function | 5 | activation_function is 5, expected a text",
            },
            quoteCharacter = '`')
    void aValueOfTheWrongKindIsRefused(String field, String value, String words) {
        assertThat(fields.with(field, value).rejection()).contains(words);
    }

    @ParameterizedTest
    @ValueSource(strings = {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head"})
    void aMissingSizeIsNamed(String field) {
        assertThat(fields.without(field).rejection()).contains(field + " is missing, expected a whole number");
    }
}
