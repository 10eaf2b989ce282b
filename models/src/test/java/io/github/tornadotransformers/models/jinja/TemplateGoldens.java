package io.github.tornadotransformers.models.jinja;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** What transformers rendered: see {@code make_template_goldens.py}. */
public final class TemplateGoldens {
    private TemplateGoldens() {}

    public static JsonNode read(String name) {
        try (InputStream stream = TemplateGoldens.class.getResourceAsStream("/templates/" + name)) {
            return new JsonMapper().readTree(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
