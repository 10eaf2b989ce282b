package io.github.tornadotransformers.models.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.jinja.TemplateGoldens;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Templates of released models, which lie beside the project, render what they do for transformers; and the tokenizers give its ids. */
class ReleasedTemplatesTest {
    private static final JsonNode RELEASED = TemplateGoldens.read("released.json");
    private static final JsonNode CONVERSATIONS =
            TemplateGoldens.read("language.json").get("conversations");

    @TestFactory
    Stream<DynamicTest> templates() {
        return RELEASED.get("templates").properties().stream()
                .flatMap(file -> file.getValue().properties().stream()
                        .map(golden -> dynamicTest(file.getKey() + ": " + golden.getKey(), () -> {
                            ChatTemplate template =
                                    ChatTemplate.ofFile(SharedData.require("templates/" + file.getKey()));
                            check(
                                    template,
                                    CONVERSATIONS.get(golden.getKey()),
                                    golden.getValue().textValue());
                        })));
    }

    private static void check(ChatTemplate template, JsonNode conversation, String hash) throws IOException {
        List<ChatMessage> messages = new ArrayList<>();
        conversation.get("messages").forEach(each -> messages.add(ChatMessage.ofJson(each)));
        Map<String, Object> variables = JsonValues.object(conversation);
        variables.put("date_string", "1 Dec 2026");
        @SuppressWarnings("unchecked")
        Optional<List<Object>> tools = Optional.ofNullable((List<Object>) variables.remove("tools"));
        ChatOptions options = new ChatOptions((Boolean) variables.get("add_generation_prompt"), tools, variables);
        if (hash.equals("fails")) {
            assertThatExceptionOfType(TransformersException.class)
                    .isThrownBy(() -> template.render(messages, options, new HashMap<>()));
        } else {
            String text = template.render(messages, options, new HashMap<>());
            assertThat(Sha256.of(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))))
                    .as(text)
                    .isEqualTo(hash);
        }
    }

    @TestFactory
    Stream<DynamicTest> idsOfSpelledTokens() {
        return RELEASED.get("ids").properties().stream()
                .map(golden -> dynamicTest(golden.getKey(), () -> {
                    Path folder = SharedData.require("tokenizers/" + golden.getKey());
                    int[] ids = Tokenizer.load(folder)
                            .encodeWithSpecialTokens(
                                    golden.getValue().get("text").textValue());
                    assertThat(ids).containsExactly(ints(golden.getValue().get("ids")));
                }));
    }

    private static int[] ints(JsonNode array) {
        int[] ints = new int[array.size()];
        for (int i = 0; i < ints.length; i++) {
            ints[i] = array.get(i).intValue();
        }
        return ints;
    }
}
