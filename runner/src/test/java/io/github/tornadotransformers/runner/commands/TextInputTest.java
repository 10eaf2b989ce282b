package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every command takes its text by the same rule: an argument, a file, {@code -}, or what is piped in. */
class TextInputTest {
    private static final String TEXT = "hello world\n";

    @TempDir
    private static Path folder;

    private static String model;
    private static String file;

    @BeforeAll
    static void writeFiles() throws IOException {
        model = SmallModels.gpt2(folder.resolve("gpt2")).toString();
        file = Files.writeString(folder.resolve("prompt.txt"), TEXT).toString();
    }

    /** {@code MODEL} and {@code FILE} stand for the files of this test. */
    private static CommandRun run(String in, String call) {
        List<String> arguments = new ArrayList<>();
        Arrays.stream(call.split(" "))
                .map(each -> each.equals("MODEL") ? model : each.equals("FILE") ? file : each)
                .forEach(arguments::add);
        return CommandRun.with(Map.of(), in, arguments.toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gpt2 -m MODEL -n 3 --json",
                "tokenize -m MODEL --json",
                "perplexity -m MODEL --json",
                "train step MODEL --json"
            })
    void aFileADashAndAPipeGiveTheSame(String call) {
        CommandRun fromFile = run("", call + " --file FILE");
        assertThat(fromFile.exitCode()).as(fromFile.err()).isEqualTo(ExitCode.OK);
        assertThat(result(run(TEXT, call))).isEqualTo(result(fromFile));
        assertThat(result(run(TEXT, call + " --file -"))).isEqualTo(result(fromFile));
        String dash = call.startsWith("train") ? " --prompt -" : " -";
        assertThat(result(run(TEXT, call + dash))).isEqualTo(result(fromFile));
    }

    private static String result(CommandRun run) {
        return run.exitCode() + run.out().replaceAll("\"(load_ms|.*_per_s|peak_rss_bytes)\":[0-9.]+", "");
    }

    @ParameterizedTest
    @CsvSource({"--file FILE,''", "--prompt -,'hello world\n'"})
    void verifyTakesThemToo(String options, String in) {
        CommandRun expected = CommandRun.of("verify", model, "--steps", "1", "--json", "-q", "--prompt", TEXT);
        CommandRun found = run(in.replace("\\n", "\n"), "verify MODEL --steps 1 --json -q " + options);
        assertThat(found.json().get("prompt_ids")).isEqualTo(expected.json().get("prompt_ids"));
    }

    @Test
    void textIsTakenToTheLastNewline() {
        assertThat(run(TEXT, "gpt2 -m MODEL -n 1 --json").json().get("prompt_ids"))
                .isEqualTo(
                        run("", "tokenize -m MODEL --file FILE --json").json().get("ids"));
    }

    @Test
    void anArgumentLeavesThePipeAlone() {
        assertThat(run("other", "gpt2 -m MODEL -n 1 --json hello").json().get("prompt_ids"))
                .isEqualTo(run("", "gpt2 -m MODEL -n 1 --json hello").json().get("prompt_ids"));
    }

    @Test
    void idsLeaveThePipeAlone() {
        assertThat(run("other", "gpt2 -m MODEL -n 1 --json --prompt-ids 5,6")
                        .json()
                        .get("prompt_ids")
                        .toString())
                .isEqualTo("[5,6]");
    }

    @Test
    void aPromptMayBeLongerThanAnArgument() throws IOException {
        Path large = Files.writeString(folder.resolve("large.txt"), "a".repeat(200_000));
        CommandRun run = CommandRun.of("gpt2", "-m", model, "-q", "--file", large.toString());
        assertThat(run.err()).contains("the prompt has 200000 tokens, but the model was trained for 64");
    }

    @Test
    void nothingOnADashIsAnEmptyPrompt() {
        assertThat(run("", "gpt2 -m MODEL -").err()).contains("the prompt is empty");
    }

    @Test
    void noTextAtAll() {
        assertThat(run("", "train step MODEL").err())
                .isEqualTo(
                        "transformers train step: no text is given: expected one of --prompt and --prompt-ids, or --file, or a pipe;"
                                + " see --help\n");
    }
}
