package io.github.tornadotransformers.models.decoder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.program.Activation;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommonFieldsTest {
    private final ObjectNode json = JsonNodeFactory.instance.objectNode();
    private final ConfigReader config = new ConfigReader(Path.of("config.json"), json);

    /** As transformers' {@code ACT2FN} has them. */
    @ParameterizedTest
    @CsvSource({"silu, SILU", "swish, SILU", "gelu, GELU_ERF", "gelu_new, GELU_TANH", "gelu_pytorch_tanh, GELU_TANH"})
    void everyActivationHasItsNames(String name, Activation activation) {
        json.put("hidden_act", name);
        assertThat(CommonFields.activation(config, "hidden_act", Activation.NONE))
                .isEqualTo(activation);
        json.put("hidden_act", CommonFields.name(activation));
        assertThat(CommonFields.activation(config, "hidden_act", Activation.NONE))
                .isEqualTo(activation);
    }

    @Test
    void anActivationThatIsNotThereIsTheFamilys() {
        assertThat(CommonFields.activation(config, "hidden_act", Activation.SILU))
                .isEqualTo(Activation.SILU);
    }

    @Test
    void anotherActivationIsRefusedWithThoseThatAreKnown() {
        json.put("hidden_act", "relu");
        assertThatThrownBy(() -> CommonFields.activation(config, "hidden_act", Activation.SILU))
                .isInstanceOf(CheckpointException.class)
                .hasMessage(
                        "config.json: hidden_act is \"relu\", which is not implemented; implemented: gelu, gelu_new,"
                                + " gelu_pytorch_tanh, silu, swish");
    }

    /** Absent is the family's, null is none. */
    @Test
    void aCapMayBeAbsentNullOrANumber() {
        assertThat(CommonFields.cap(config, "cap", 30f)).isEqualTo(30f);
        json.putNull("cap");
        assertThat(CommonFields.cap(config, "cap", 30f)).isInfinite();
        json.put("cap", 12.5);
        assertThat(CommonFields.cap(config, "cap", 30f)).isEqualTo(12.5f);
        for (float cap : new float[] {12.5f, Float.POSITIVE_INFINITY}) {
            CommonFields.describeCap("cap", cap, json);
            assertThat(CommonFields.cap(config, "cap", 30f)).isEqualTo(cap);
        }
    }
}
