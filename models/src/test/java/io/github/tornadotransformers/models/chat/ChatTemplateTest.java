package io.github.tornadotransformers.models.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChatTemplateTest {
    private static final String PLAIN =
            "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}";
    private static final List<ChatMessage> HELLO = List.of(ChatMessage.user("hello"));

    @TempDir
    private Path folder;

    @Test
    void aFolderWithoutOneHasNone() throws IOException {
        assertThat(ChatTemplate.ofModel(folder)).isEmpty();
        write("tokenizer_config.json", "{\"chat_template\": null}");
        assertThat(ChatTemplate.ofModel(folder)).isEmpty();
    }

    @Test
    void theTemplateIsInTheConfigOrAFileOfItsOwn() throws IOException {
        write("chat_template.json", "{\"chat_template\": \"processor {{ messages | length }}\"}");
        assertThat(rendered()).isEqualTo("processor 1");
        write("tokenizer_config.json", "{\"chat_template\": \"config {{ messages | length }}\"}");
        assertThat(rendered()).isEqualTo("config 1");
        write("chat_template.jinja", "file {{ messages | length }}\n");
        assertThat(rendered()).isEqualTo("file 1");
    }

    @Test
    void ofNamedTemplatesTheDefaultCountsAndThatForTools() throws IOException {
        write("tokenizer_config.json", """
                {"chat_template": [{"name": "default", "template": "d{{ tools is none }}"},
                  {"name": "tool_use", "template": "t{{ tools | length }}"}, {"name": "rag", "template": "{% nosuch %}"}]}
                """);
        assertThat(rendered()).isEqualTo("dTrue");
        ChatOptions tools = ChatOptions.DEFAULT.withTools(List.of(Map.of("name", "x")));
        assertThat(ChatTemplate.ofModel(folder).orElseThrow().render(HELLO, tools, Map.of()))
                .isEqualTo("t1");
    }

    @Test
    void whatCannotBeUsedIsSaidWithItsPlace() throws IOException {
        write("tokenizer_config.json", "{\"chat_template\": \"a\\n{% nosuch %}\"}");
        assertRefused(
                "tokenizer_config.json: chat_template: the chat template fails: line 2: {% nosuch %} is not known");
        write("tokenizer_config.json", "{\"chat_template\": [{\"name\": \"rag\", \"template\": \"\"}]}");
        assertRefused("no template named default");
        write("tokenizer_config.json", "{\"chat_template\": [7]}");
        assertRefused("has 7, expected a text, or objects with a name and a template");
        write("chat_template.jinja", "{{ messages[3].content }}");
        assertThatExceptionOfType(CheckpointException.class)
                .isThrownBy(this::rendered)
                .withMessageContaining("chat_template.jinja: the chat template fails: line 1: a list has no 3");
    }

    @Test
    void aTemplateRefusesAConversationByItself() {
        ChatTemplate template = ChatTemplate.of("{{ raise_exception('roles\n must alternate') }}", "here");
        assertThatExceptionOfType(InvalidRequest.class)
                .isThrownBy(() -> template.render(HELLO, ChatOptions.DEFAULT, Map.of()))
                .withMessage("the model's chat template refuses the conversation: roles must alternate");
    }

    @Test
    void messagesAreObjectsWithARole() throws IOException {
        JsonMapper json = new JsonMapper();
        ChatMessage message =
                ChatMessage.ofJson(json.readTree("{\"role\":\"user\",\"content\":[{\"n\":1.0}],\"x\":null}"));
        assertThat(message.role()).isEqualTo("user");
        assertThat(message.content()).isEmpty();
        assertThat(ChatTemplate.of("{{ messages }}", "here").render(List.of(message), ChatOptions.DEFAULT, Map.of()))
                .isEqualTo("[{'role': 'user', 'content': [{'n': 1.0}], 'x': None}]");
        for (String broken : List.of("7", "{}", "{\"role\": 3}")) {
            assertThatExceptionOfType(InvalidRequest.class)
                    .isThrownBy(() -> ChatMessage.ofJson(json.readTree(broken)))
                    .withMessageContaining("expected an object with a role");
        }
    }

    @Test
    void specialTokensOfTheTemplateAreTokensAndThoseOfAMessageAreText() throws IOException {
        for (Tokenizer tokenizer : List.of(
                Tokenizer.load(TestTokenizers.byteLevel(Files.createDirectory(folder.resolve("bytes")))),
                Tokenizer.load(TestTokenizers.byteFallback(Files.createDirectory(folder.resolve("fallback")))))) {
            String token = tokenizer.specialTexts().stream()
                    .sorted()
                    .reduce((_, last) -> last)
                    .orElseThrow();
            int id = tokenizer.id(token).orElseThrow();
            ChatTemplate template =
                    ChatTemplate.of("{% for m in messages %}{{ m.content | trim }}{{ mark }}{% endfor %}hello", "here");
            ChatOptions options = ChatOptions.DEFAULT.withVariable("mark", "|");
            List<ChatMessage> messages = List.of(ChatMessage.user(" hello " + token + " wor"), ChatMessage.user(token));

            ChatPrompt prompt = template.prompt(messages, options, tokenizer);

            assertThat(prompt.text()).isEqualTo("hello " + token + " wor|" + token + "|hello");
            assertThat(prompt.ids()).doesNotContain(id).isEqualTo(tokenizer.encode(prompt.text()));

            ChatTemplate marking =
                    ChatTemplate.of("{% for m in messages %}{{ m.content }}" + token + "{% endfor %}hello", "here");
            ChatPrompt marked = marking.prompt(messages, ChatOptions.DEFAULT, tokenizer);
            assertThat(Arrays.stream(marked.ids()).filter(each -> each == id)).hasSize(2);
            assertThat(tokenizer.decode(marked.ids()).replace(" ", ""))
                    .isEqualTo("hello" + token + "wor" + token + "hello");
        }
    }

    @Test
    void theEndOfATurnIsWhatFollowsAnAnswer() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteLevel(folder));
        int end = tokenizer.id(TestTokenizers.END_OF_TEXT).orElseThrow();
        ChatTemplate token = ChatTemplate.of(
                "{% for m in messages %}{{ m.content }}\n" + TestTokenizers.END_OF_TEXT + "{% endfor %}", "here");
        assertThat(token.ending(tokenizer)).isEqualTo(new ChatEnding(OptionalInt.of(end), Optional.empty()));
        ChatTemplate text =
                ChatTemplate.of("{% for m in messages %}{{ m.role }}: {{ m.content }}\n\n{% endfor %}", "here");
        assertThat(text.ending(tokenizer)).isEqualTo(new ChatEnding(OptionalInt.empty(), Optional.of("\n\nuser:")));
        for (String silent : List.of("{{ messages[1].content }}\n", "{{ raise_exception('no') }}")) {
            assertThat(ChatTemplate.of(silent, "here").ending(tokenizer)).isEqualTo(ChatEnding.UNKNOWN);
        }
    }

    private String rendered() {
        return ChatTemplate.ofModel(folder).orElseThrow().render(HELLO, ChatOptions.DEFAULT, Map.of());
    }

    private void assertRefused(String reason) {
        assertThatExceptionOfType(CheckpointException.class)
                .isThrownBy(() -> ChatTemplate.ofModel(folder))
                .withMessageContaining(reason);
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    @Test
    void namesOfSpecialTokensAreVariables() {
        assertThat(ChatTemplate.of(PLAIN, "here").render(HELLO, ChatOptions.DEFAULT, Map.of("eos_token", "</s>")))
                .isEqualTo("user: hello</s>");
    }
}
