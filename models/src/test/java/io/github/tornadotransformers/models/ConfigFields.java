package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;

/** A family's {@code config.json} with some of its fields changed. */
public final class ConfigFields {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ModelFamily<?> family;
    private final ObjectNode object;

    private ConfigFields(ModelFamily<?> family, ObjectNode object) {
        this.family = family;
        this.object = object;
    }

    public static <C extends ModelConfig> ConfigFields of(ModelFamily<C> family, C config) {
        ObjectNode object = JSON.createObjectNode();
        family.describe(config, object);
        return new ConfigFields(family, object);
    }

    /** @param value JSON, apostrophes standing for quotation marks */
    public ConfigFields with(String field, String value) {
        ObjectNode changed = object.deepCopy();
        try {
            changed.set(field, JSON.readTree(value.replace('\'', '"')));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(value, e);
        }
        return new ConfigFields(family, changed);
    }

    public ConfigFields without(String field) {
        ObjectNode changed = object.deepCopy();
        changed.remove(field);
        return new ConfigFields(family, changed);
    }

    public ModelConfig parse() {
        return family.parse(new ConfigReader(Path.of("config.json"), object));
    }

    /** The one line that refuses the config. */
    public String rejection() {
        CheckpointException rejection = catchThrowableOfType(CheckpointException.class, this::parse);
        assertThat(rejection).as("expected a rejection of %s", object).isNotNull();
        assertThat(rejection.getMessage()).startsWith("config.json: ").doesNotContainPattern("\\p{Cntrl}");
        return rejection.getMessage();
    }
}
