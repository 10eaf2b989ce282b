package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchCommandTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    private static Path folder;

    private static String model;
    private static String withoutTokenizer;

    @TempDir
    Path work;

    @BeforeAll
    static void writeModels() {
        model = SmallModels.gpt2(folder.resolve("gpt2")).toString();
        withoutTokenizer =
                SmallModels.withoutTokenizer(folder.resolve("no tokenizer")).toString();
    }

    private static List<JsonNode> objects(String lines) {
        return lines.lines()
                .map(line -> {
                    try {
                        return MAPPER.readTree(line);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .toList();
    }

    private static CommandRun piped(String lines, String... options) {
        String[] arguments = new String[3 + options.length];
        System.arraycopy(new String[] {"batch", "-m", model}, 0, arguments, 0, 3);
        System.arraycopy(options, 0, arguments, 3, options.length);
        return CommandRun.with(Map.of(), lines, arguments);
    }

    /** The lines' own options, and the command line's where they have none. */
    @ParameterizedTest
    @CsvSource({"1, ''", "3, ''", "8, ''", "8, --prompt-lookup"})
    void everyLineGetsWhatGenerateGivesIt(String jobs, String option) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 9; i++) {
            lines.append("{\"id\": \"line ")
                    .append(i)
                    .append("\", \"prompt\": \"hello hello hello")
                    .append(" world".repeat(i))
                    .append("\", \"tokens\": ")
                    .append(3 + 4 * i)
                    .append(", \"seed\": ")
                    .append(i)
                    .append("}\n");
        }
        String[] options = option.isEmpty()
                ? new String[] {"--jobs", jobs, "--temperature", "0.7"}
                : new String[] {"--jobs", jobs, "--temperature", "0.7", option};
        CommandRun run = piped(lines.toString(), options);
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        List<JsonNode> answers = objects(run.out());
        assertThat(answers).hasSize(9);
        for (int i = 0; i < 9; i++) {
            JsonNode alone = CommandRun.of(
                            "generate",
                            "-m",
                            model,
                            "--json",
                            "-n",
                            String.valueOf(3 + 4 * i),
                            "--seed",
                            String.valueOf(i),
                            "--temperature",
                            "0.7",
                            "hello hello hello" + " world".repeat(i))
                    .json();
            JsonNode answer = answers.get(i);
            assertThat(answer.get("id").asText()).isEqualTo("line " + i);
            for (String field : List.of("prompt_ids", "ids", "text", "stop_reason", "engine", "dtype")) {
                assertThat(answer.get(field)).as(field).isEqualTo(alone.get(field));
            }
        }
    }

    @Test
    void aBadLineIsAnErrorAndNotAnEnd() {
        CommandRun run = piped("""
                {"id": 1, "prompt": "hello", "tokens": 2}

                nonsense
                {"id": "x", "prompt": "hello", "tokns": 2}
                {"id": 3, "prompt": "hello", "prompt_ids": [1]}
                {"id": 4, "prompt_ids": [1, 99999]}
                {"id": 5, "prompt": "hello", "top_p": 0}
                {"id": 6, "prompt": "hello", "stop": ["a", ""]}
                {"id": 7, "prompt_ids": "1"}
                {"id": 8, "prompt": "hello", "seed": 1.5}
                {"id": 9, "prompt": "hello", "id": 9}
                [1]
                {"id": [1], "prompt": "hello"}
                {"prompt": "hello", "tokens": 1}""");
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        List<JsonNode> answers = objects(run.out());
        assertThat(answers).hasSize(13);
        assertThat(answers.getFirst().get("ids")).hasSize(2);
        assertThat(answers.getLast().get("ids")).hasSize(1);
        assertThat(answers.getLast().get("id").isNull()).isTrue();
        assertThat(answers.subList(1, 12).stream()
                        .map(each -> each.get("id") + " " + each.get("line") + ": "
                                + each.get("error").asText().replaceFirst("(no JSON).*", "$1")))
                .containsExactly(
                        "null 3: the line is no JSON",
                        "\"x\" 4: unknown field tokns, expected any of id, prompt, prompt_ids, tokens, temperature,"
                                + " top_k, top_p, min_p, repetition_penalty, seed, greedy, stop",
                        "3 5: expected one of prompt and prompt_ids, found both",
                        "4 6: prompt id 99999 (number 2) is outside the model's vocabulary: vocab_size is "
                                + TestTokenizers.BYTE_LEVEL_VOCAB_SIZE,
                        "5 7: top_p is 0.0, expected more than 0 and at most 1 (all tokens)",
                        "6 8: an empty text is in stop, expected a text",
                        "7 9: prompt_ids is \"1\", expected a list of token ids",
                        "8 10: seed is 1.5, expected a whole number",
                        "null 11: the line is no JSON",
                        "null 12: the line is no JSON",
                        "null 13: id is [1], expected a text or a whole number");
        assertThat(run.errLines().getLast()).startsWith("13 lines, 11 of them errors, 3 tokens in ");
    }

    @Test
    void aLineThatIsNotUtf8IsAnError() throws IOException {
        Path file = work.resolve("lines");
        Files.write(file, new byte[] {'{', (byte) 0xC3, '\n'});
        CommandRun run = CommandRun.of("batch", "-m", model, file.toString());
        assertThat(objects(run.out()).getFirst().get("error").asText()).isEqualTo("the line is not UTF-8 text");
    }

    private Path input(int lines) throws IOException {
        Path file = work.resolve("input.jsonl");
        Files.write(
                file,
                IntStream.range(0, lines)
                        .mapToObj(i -> "{\"id\": " + i + ", \"prompt\": \"hello\", \"tokens\": 2, \"seed\": " + i + "}")
                        .toList());
        return file;
    }

    private CommandRun answered(Path input, Path output) {
        return CommandRun.of("batch", "-m", model, input.toString(), "-o", output.toString());
    }

    private static String ids(String lines) {
        StringBuilder ids = new StringBuilder();
        objects(lines)
                .forEach(each ->
                        ids.append(each.get("id")).append(each.get("ids")).append('\n'));
        return ids.toString();
    }

    /** As it is after a run that was killed while it wrote. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 6})
    void anInterruptedRunGoesOnWhereItEnded(int lines) throws IOException {
        Path output = work.resolve("output.jsonl");
        assertThat(answered(input(6), output).exitCode()).isEqualTo(ExitCode.OK);
        String whole = Files.readString(output);
        int end = 0;
        for (int line = 0; line < lines; line++) {
            end = whole.indexOf('\n', end) + 1;
        }
        Files.writeString(output, whole.substring(0, Math.min(whole.length(), end + 17)));
        CommandRun run = answered(input(6), output);
        assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
        assertThat(run.out()).isEmpty();
        String again = Files.readString(output);
        assertThat(again.substring(0, end)).isEqualTo(whole.substring(0, end));
        assertThat(ids(again)).isEqualTo(ids(whole));
        assertThat(run.errLines().getLast()).startsWith(6 - lines + " lines, 0 of them errors");
    }

    @Test
    void anOutputOfSomethingElseIsLeftAlone() throws IOException {
        Path output = work.resolve("output.jsonl");
        Path input = input(3);
        refuse(input, output, "not JSON\n", ", line 1, is no answer of `transformers batch`");
        refuse(input, output, "{}\n", ", line 1, is no answer of `transformers batch`");
        refuse(input, output, "{\"id\":7}\n", ", line 1, has id 7, but the input's is 0: it is from another input");
        refuse(input, output, "{\"id\":0,\"model\":\"other\"}\n", ", line 1, was made by model other, not by " + model);
        refuse(
                input,
                output,
                "{\"id\":0}\n{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n",
                " has 4 answers, but the input 3 lines: it is from another input");
    }

    private void refuse(Path input, Path output, String found, String message) throws IOException {
        Files.writeString(output, found);
        CommandRun run = answered(input, output);
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.errLines())
                .containsExactly("transformers batch: " + output + message + ": give another --output, or remove it");
        assertThat(output).hasContent(found);
    }

    @Test
    void wrongCallsAreRefused() throws IOException {
        Path input = input(1);
        assertWrong("--jobs is 0, expected 1 to 4096", "--jobs", "0");
        assertWrong("--tokens is 0, expected 1 or more", "-n", "0");
        assertWrong(
                "--output is " + input + ", the input: expected another file",
                input.toString(),
                "-o",
                input.toString());
        Path nowhere = work.resolve("no folder/answers");
        assertThat(CommandRun.of("batch", "-m", model, input.toString(), "-o", nowhere.toString())
                        .errLines())
                .containsExactly(
                        "transformers batch: --output is " + nowhere + ", expected a file in a folder that is there");
        CommandRun run =
                CommandRun.of("batch", "-m", model, work.resolve("none").toString());
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.err()).contains("none does not exist, expected a text file");
    }

    private static void assertWrong(String message, String... options) {
        CommandRun run = piped("{\"prompt\": \"x\"}\n", options);
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.errLines()).containsExactly("transformers batch: " + message + "; see --help");
    }

    @Test
    void withoutATokenizerIdsAreTaken() {
        CommandRun run = CommandRun.with(
                Map.of(),
                "{\"prompt_ids\": [1, 2], \"tokens\": 3}\n{\"prompt\": \"x\"}\n",
                "batch",
                "-m",
                withoutTokenizer);
        List<JsonNode> answers = objects(run.out());
        assertThat(answers.getFirst().get("ids")).hasSize(3);
        assertThat(answers.getFirst().get("text").isNull()).isTrue();
        assertThat(answers.getLast().get("error").asText()).isEqualTo("the model has no tokenizer: give prompt_ids");
    }

    /** A page at least, in which the sequences take turns. */
    @Test
    void littleMemoryForTheCacheMakesThemWait() {
        String line = "{\"prompt\": \"hello\", \"tokens\": 9}\n";
        List<JsonNode> answers =
                objects(piped(line.repeat(3), "--cache-memory", "1").out());
        assertThat(answers).hasSize(3);
        assertThat(answers.stream().map(each -> each.get("ids")).distinct()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "512M, 536870912", "2G, 2147483648", "1.5KiB, 1536", "3 kb, 3072", "7B, 7"})
    void sizesHaveUnits(String text, long bytes) {
        assertThat(new ByteSize().convert(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "M", "-1M", "1X", "1e3", "99999999999T"})
    void whatIsNoSizeIsRefused(String text) {
        assertWrong(
                "Invalid value for option '--cache-memory': '" + text + "' is "
                        + (text.startsWith("9")
                                ? "more than any machine has"
                                : "no size: expected one such as 512M or 2G"),
                "--cache-memory=" + text);
    }
}
