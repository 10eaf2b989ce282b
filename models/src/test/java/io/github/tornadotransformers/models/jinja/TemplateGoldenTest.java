package io.github.tornadotransformers.models.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.chat.JsonValues;
import java.time.InstantSource;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The language, part by part, and templates of chats: each prints what Jinja2 prints for transformers, or fails where it does. */
class TemplateGoldenTest {
    private static final JsonNode GOLDENS = TemplateGoldens.read("language.json");

    @TestFactory
    Stream<DynamicTest> language() {
        Map<String, Object> values = JsonValues.object(GOLDENS.get("values"));
        return each("language")
                .map(golden -> dynamicTest(golden.get("template").textValue(), () -> check(golden, values)));
    }

    @TestFactory
    Stream<DynamicTest> chats() {
        return each("chats").map(golden -> {
            String name = golden.get("conversation").textValue();
            Map<String, Object> values =
                    JsonValues.object(GOLDENS.get("conversations").get(name));
            return dynamicTest(name + ": " + golden.get("template").textValue(), () -> check(golden, values));
        });
    }

    private static Stream<JsonNode> each(String list) {
        return StreamSupport.stream(GOLDENS.get(list).spliterator(), false);
    }

    private static void check(JsonNode golden, Map<String, Object> values) {
        String template = golden.get("template").textValue();
        if (golden.has("text")) {
            assertThat(render(template, values)).isEqualTo(golden.get("text").textValue());
        } else {
            assertThatExceptionOfType(TemplateException.class)
                    .isThrownBy(() -> render(template, values))
                    .matches(failure -> failure.isRaised()
                            == golden.get("error").textValue().startsWith("TemplateError:"))
                    .withMessageMatching("(?s)[^\n]+");
        }
    }

    private static String render(String template, Map<String, Object> values) {
        return Template.parse(template).render(values, InstantSource.system(), Limits.DEFAULT);
    }
}
