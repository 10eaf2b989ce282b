package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a config means that says only its sizes: the defaults of transformers' config class (5.18), which leaves fields that have
 * their default out of the file in places.
 */
class FamilyDefaultsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> SIZES = List.of(
            "vocab_size",
            "hidden_size",
            "intermediate_size",
            "num_hidden_layers",
            "num_attention_heads",
            "num_key_value_heads");
    private static final String ONLY_SIZES = """
            {"vocab_size": 100, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 6,
            "num_attention_heads": 4, "num_key_value_heads": 2}""";

    /** What {@code FULL} stands for. */
    private static final String FULL = """
            ['full_attention','full_attention','full_attention','full_attention','full_attention','full_attention']""";

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    private static <C extends ModelConfig> ObjectNode described(ModelFamily<C> family, JsonNode fields) {
        ObjectNode described = JSON.createObjectNode();
        family.describe(family.parse(new ConfigReader(Path.of("config.json"), fields)), described);
        return described;
    }

    private static ModelFamily<?> family(String modelType) {
        return ModelFamilies.all().stream()
                .filter(each -> each.modelType().equals(modelType))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "llama | {'max_position_embeddings':2048,'head_dim':6,'rope_theta':10000.0,'hidden_act':'silu',"
                        + "'rms_norm_eps':1e-6,'attention_bias':false,'mlp_bias':false,"
                        + "'tie_word_embeddings':false}",
                "qwen2 | {'max_position_embeddings':32768,'head_dim':6,'rope_theta':10000.0,'hidden_act':'silu',"
                        + "'rms_norm_eps':1e-6,'use_sliding_window':false,'sliding_window':null,"
                        + "'layer_types':FULL,'tie_word_embeddings':false}",
                "qwen3 | {'max_position_embeddings':32768,'head_dim':128,'rope_theta':10000.0,"
                        + "'hidden_act':'silu','rms_norm_eps':1e-6,'use_sliding_window':false,"
                        + "'sliding_window':null,'layer_types':FULL,'attention_bias':false,"
                        + "'tie_word_embeddings':false}",
                "mistral | {'max_position_embeddings':131072,'head_dim':6,'rope_theta':10000.0,"
                        + "'hidden_act':'silu','rms_norm_eps':1e-6,'sliding_window':4096,"
                        + "'tie_word_embeddings':false}",
                "gemma2 | {'max_position_embeddings':8192,'head_dim':256,'rope_theta':10000.0,"
                        + "'hidden_activation':'gelu_pytorch_tanh','rms_norm_eps':1e-6,'sliding_window':4096,"
                        + "'layer_types':['sliding_attention','full_attention','sliding_attention','full_attention','sliding_attention','full_attention'],"
                        + "'query_pre_attn_scalar':256.0,'attn_logit_softcapping':50.0,"
                        + "'final_logit_softcapping':30.0,'attention_bias':false,'tie_word_embeddings':true}",
                "gemma3_text | {'max_position_embeddings':131072,'head_dim':256,"
                        + "'rope_parameters':{'full_attention':{'rope_theta':1000000.0,'rope_type':'default'},"
                        + "'sliding_attention':{'rope_theta':10000.0,'rope_type':'default'}},"
                        + "'hidden_activation':'gelu_pytorch_tanh','rms_norm_eps':1e-6,'sliding_window':4096,"
                        + "'layer_types':['sliding_attention','sliding_attention','sliding_attention','sliding_attention','sliding_attention','full_attention'],"
                        + "'query_pre_attn_scalar':256.0,'final_logit_softcapping':null,'attention_bias':false,"
                        + "'tie_word_embeddings':true}",
                "phi3 | {'max_position_embeddings':4096,'head_dim':6,'rope_theta':10000.0,'hidden_act':'silu',"
                        + "'rms_norm_eps':1e-5,'sliding_window':null,'tie_word_embeddings':false}",
                "granite | {'max_position_embeddings':2048,'head_dim':6,'rope_theta':10000.0,"
                        + "'hidden_act':'silu','rms_norm_eps':1e-6,'embedding_multiplier':1.0,"
                        + "'attention_multiplier':1.0,'residual_multiplier':1.0,'logits_scaling':1.0,"
                        + "'attention_bias':false,'mlp_bias':false,'tie_word_embeddings':false}",
                "olmo2 | {'max_position_embeddings':2048,'head_dim':6,'rope_theta':10000.0,'hidden_act':'silu',"
                        + "'rms_norm_eps':1e-5,'attention_bias':false,'tie_word_embeddings':false}",
                "smollm3 | {'max_position_embeddings':32768,'head_dim':6,'rope_theta':2000000.0,"
                        + "'no_rope_layers':[1,1,1,0,1,1],'hidden_act':'silu','rms_norm_eps':1e-6,"
                        + "'use_sliding_window':false,'sliding_window':null,'layer_types':FULL,"
                        + "'attention_bias':false,'mlp_bias':false,'tie_word_embeddings':true}",
            })
    void aConfigOfSizesAloneHasTheDefaultsOfItsClass(String modelType, String expected) {
        ObjectNode described = described(family(modelType), json(ONLY_SIZES));
        described.remove(SIZES);
        described.remove("architectures");
        assertThat(json(described.toString())).isEqualTo(json(expected.replace("FULL", FULL)));
    }

    /** Layers before {@code max_window_layers} see everything. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "qwen2 | 'num_hidden_layers':30 | 28",
                "qwen3 | 'num_hidden_layers':30 | 28",
                "qwen2 | 'max_window_layers':2 | 2",
                "qwen3 | 'max_window_layers':0 | 0",
                "qwen2 | 'max_window_layers':2,'sliding_window':4096 | 2",
            })
    void aWindowThatIsUsedHasTheDefaultsOfItsClass(String modelType, String fields, int full) {
        ObjectNode used = (ObjectNode) json(ONLY_SIZES);
        used.setAll((ObjectNode) json("{'use_sliding_window':true," + fields + "}"));
        ObjectNode described = described(family(modelType), used);
        assertThat(described.get("sliding_window").intValue()).isEqualTo(4096);
        List<String> types = new ArrayList<>();
        described.get("layer_types").forEach(type -> types.add(type.textValue()));
        assertThat(types).hasSize(used.get("num_hidden_layers").intValue());
        assertThat(types.subList(0, full)).allMatch("full_attention"::equals);
        assertThat(types.subList(full, types.size())).isNotEmpty().allMatch("sliding_attention"::equals);
    }
}
