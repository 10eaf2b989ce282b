package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatCommandTest {
    private static final String TEMPLATE =
            "{% for m in messages %}{{ m.role[0] }} {{ m.content }} {% endfor %}{% if add_generation_prompt %}a {% endif %}";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    private Path folder;

    private Path model;

    @BeforeEach
    void write() throws IOException {
        model = SmallModels.gpt2(folder.resolve("model"));
        Files.writeString(model.resolve("chat_template.jinja"), TEMPLATE);
    }

    private CommandRun chat(String lines, String... options) {
        String[] arguments = new String[options.length + 3];
        System.arraycopy(new String[] {"chat", "-m", model.toString()}, 0, arguments, 0, 3);
        System.arraycopy(options, 0, arguments, 3, options.length);
        return CommandRun.with(Map.of(), lines, arguments);
    }

    /** What plain generation makes of the text that the template renders. */
    private String generated(String prompt, int tokens) {
        CommandRun run = CommandRun.with(
                Map.of(), "", "generate", prompt, "-m", model.toString(), "-n", "" + tokens, "-q", "--greedy");
        assertThat(run.exitCode()).isZero();
        return run.out().substring(0, run.out().length() - 1);
    }

    @Test
    void eachAnswerContinuesAllThatWasSaid() {
        CommandRun run = chat("hello\nworld\n", "-n", "5", "--greedy", "--system", "be");
        assertThat(run.exitCode()).isZero();
        String first = generated("s be u hello a ", 5);
        String second = generated("s be u hello a " + first + " u world a ", 5);
        assertThat(run.out()).isEqualTo(first + "\n" + second + "\n");
        assertThat(run.err()).contains("stopped after 5 tokens: ask it to go on, or start with a larger -n");
    }

    @Test
    void theCacheOfTheConversationIsKept() {
        CommandRun run = chat("hello\nworld\n/stats\n", "-n", "5", "--greedy");
        assertThat(run.err()).containsPattern("tokens, of which [1-9]\\d* were kept from before");
        assertThat(run.err()).contains("2 answers of 10 tokens; 4 messages");
    }

    @Test
    void linesThatBelongTogetherAreOneMessage() throws IOException {
        Path saved = folder.resolve("saved.json");
        CommandRun run = chat("a\\\nb\n\"\"\"one\n two\n\"\"\"\n/save " + saved + "\n", "-n", "1", "--greedy");
        assertThat(run.exitCode()).isZero();
        JsonNode messages = MAPPER.readTree(saved.toFile());
        assertThat(messages.get(0).get("content").textValue()).isEqualTo("a\nb");
        assertThat(messages.get(2).get("content").textValue()).isEqualTo("one\n two");
    }

    @Test
    void aConversationIsSavedAndGoesOn() throws IOException {
        Path saved = folder.resolve("saved.json");
        CommandRun whole = chat("hello\n/save " + saved + "\nworld\n", "-n", "5", "--greedy", "--system", "be");
        CommandRun later = chat("world\n", "-n", "5", "--greedy", "--load", saved.toString());
        assertThat(later.out())
                .isEqualTo(
                        whole.out().substring(whole.out().length() - later.out().length()));
        CommandRun typed = chat("/load " + saved + "\nworld\n", "-n", "5", "--greedy");
        assertThat(typed.out()).isEqualTo(later.out());
        assertThat(typed.err()).contains("3 messages are loaded");

        Path tools = Files.writeString(folder.resolve("tools.json"), "[{\"name\": \"x\"}]");
        CommandRun shown = CommandRun.with(
                Map.of(),
                "",
                "tokenize",
                "-m",
                model.toString(),
                "--messages",
                saved.toString(),
                "--json",
                "--tools",
                tools.toString());
        JsonNode prompt = MAPPER.readTree(shown.out());
        assertThat(prompt.get("prompt").textValue())
                .startsWith("s be u hello a ")
                .endsWith("a ");
        assertThat(prompt.get("ids").size()).isPositive();
    }

    @Test
    void anotherTryHasAnotherSeed() {
        CommandRun run = chat("hello\n/retry\n/retry\n", "-n", "8", "--temperature", "2");
        assertThat(run.err()).contains("seed 43").contains("seed 44");
        assertThat(run.out().lines().distinct()).hasSizeGreaterThan(1);
        assertThat(chat("/retry\nhello\n/retry\n", "-n", "2", "--greedy").err())
                .contains("there is no question to answer again")
                .contains("start with a --temperature");
    }

    @Test
    void whatOutgrowsTheContextIsCutByWholeTurns() {
        CommandRun run =
                chat("hello hello\n".repeat(6) + "/stats\n", "-n", "4", "--greedy", "--context", "24", "--system", "s");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).contains("forgotten: the context holds 24 tokens (--context)");
        CommandRun long_ = chat("x".repeat(50) + "\nhello\n", "-n", "4", "--greedy", "--context", "24");
        assertThat(long_.exitCode()).isZero();
        assertThat(long_.err()).contains("the message is too long: with it there are");
        assertThat(long_.out()).isEqualTo(generated("u hello a ", 4) + "\n");
    }

    @Test
    void commandsThatFailLeaveTheConversation() {
        CommandRun run = chat(
                "/nosuch\n/save\n/load " + folder.resolve("nosuch.json")
                        + "\n/clear\n/system x\n/system\n/help\n\nhello\n/exit\nnever\n",
                "-n",
                "3",
                "--greedy");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err())
                .contains("/nosuch is no command")
                .contains("/save needs the name of a file")
                .contains("nosuch.json cannot be read: ")
                .contains("/retry");
        assertThat(run.out()).isEqualTo(generated("u hello a ", 3) + "\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-n 0                                  | 2 | --tokens is 0, expected 1 or more",
                "--template nosuch.jinja               | 1 | nosuch.jinja cannot be read: there is no such file",
                "--load nosuch.json                    | 1 | nosuch.json cannot be read",
                "--no-thinking --variable enable_thinking=true | 2 | expected one of them",
            })
    void wrongCallsAreSaidInOneLine(String options, int code, String message) {
        CommandRun run = chat("hello\n", options.strip().split(" "));
        assertThat(run.exitCode()).isEqualTo(code);
        assertThat(run.err()).contains(message);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aModelWithoutATemplateIsRefusedAndTakesOne() throws IOException {
        Files.delete(model.resolve("chat_template.jinja"));
        CommandRun without = chat("hello\n");
        assertThat(without.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(without.err()).contains("has no chat template: expected chat_template.jinja");
        Path other = Files.writeString(
                folder.resolve("t.jinja"), "{{ enable_thinking }} {{ messages[-1].content }} {{ n + 1 }}");
        CommandRun with = chat(
                "hello\n", "-n", "3", "--greedy", "--template", other.toString(), "--no-thinking", "--variable", "n=1");
        assertThat(with.out()).isEqualTo(generated("False hello 2", 3) + "\n");
    }

    @Test
    void anExportedModelTakesItsTemplateAlong() {
        Path file = folder.resolve("model.gguf");
        CommandRun export = CommandRun.of("export", model.toString(), "--gguf", file.toString(), "--type", "f32");
        assertThat(export.exitCode()).as(export.err()).isZero();
        CommandRun run = CommandRun.with(Map.of(), "hello\n", "chat", "-m", file.toString(), "-n", "5", "--greedy");
        assertThat(run.out()).isEqualTo(chat("hello\n", "-n", "5", "--greedy").out());
    }
}
