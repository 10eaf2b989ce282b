package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayCommandTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    private static Path folder;

    private static String model;
    private static String other;

    @TempDir
    Path work;

    @BeforeAll
    static void writeModels() {
        model = SmallModels.llama(folder.resolve("llama")).toString();
        other = SmallModels.gpt2(folder.resolve("gpt2")).toString();
    }

    private Path receipt(String... options) {
        Path file = work.resolve("receipt.json");
        String[] arguments = new String[6 + options.length];
        System.arraycopy(
                new String[] {"generate", "-m", model, "--receipt", file.toString(), "hello"}, 0, arguments, 0, 6);
        System.arraycopy(options, 0, arguments, 6, options.length);
        CommandRun run = CommandRun.of(arguments);
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        return file;
    }

    private static CommandRun replay(Path file, String... options) {
        String[] arguments = new String[2 + options.length];
        arguments[0] = "replay";
        arguments[1] = file.toString();
        System.arraycopy(options, 0, arguments, 2, options.length);
        return CommandRun.of(arguments);
    }

    /** Made on one engine, with guesses or without the cache, run again on the other. */
    @ParameterizedTest
    @CsvSource({
        "--dtype int8",
        "--kv-dtype bf16 --temperature 0.4 --seed 99",
        "--prompt-lookup --greedy",
        "--no-cache --top-k 3",
        "--stop x --repetition-penalty 1.3 --context 32",
        "-e scalar"
    })
    void whatOneEngineSaidTheOtherSaysAgain(String options) {
        Path file = receipt((options + " -n 12").split(" "));
        for (String engine : new String[] {"host", "scalar"}) {
            CommandRun run = replay(file, "-e", engine);
            assertThat(run.out()).as(run.err()).matches("equal, \\d+ steps\n");
            assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void theFirstStepWithOtherLogitsIsNamed() throws IOException {
        Path file = receipt("-n", "9");
        ObjectNode json = (ObjectNode) MAPPER.readTree(file.toFile());
        int prompt = json.get("prompt_ids").size();
        ((ArrayNode) json.get("logits")).set(3, "0000000000000000");
        Files.writeString(file, json.toString());
        CommandRun run = replay(file);
        assertThat(run.out()).isEqualTo("parts at step 4 of 9 (position " + (prompt + 2) + "): the logits differ\n");
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
    }

    @Test
    void idsAndEndingsThatWereAlteredAreFound() throws IOException {
        Path file = receipt("-n", "9");
        ObjectNode json = (ObjectNode) MAPPER.readTree(file.toFile());
        ObjectNode ids = json.deepCopy();
        ((ArrayNode) ids.get("ids")).set(2, ids.get("ids").get(2).intValue() + 1);
        Files.writeString(file, ids.toString());
        assertThat(replay(file).out()).isEqualTo("parts at step 3 of 9: the logits are equal, but the ids are not\n");
        Files.writeString(file, json.deepCopy().put("stop_reason", "context").toString());
        assertThat(replay(file).out()).isEqualTo("parts at the end: stopped for length instead of context\n");
        Files.writeString(file, json.deepCopy().put("seed", 43).toString());
        assertThat(replay(file).out()).startsWith("parts at step ");
    }

    @Test
    void anotherModelIsSaidToBeOne() {
        Path file = receipt("-n", "3");
        CommandRun run = replay(file, "-m", other);
        assertThat(run.err()).contains("they are not the same, or not stored alike");
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
    }

    @Test
    void answersOfABatchAreReplayedLineByLine() throws IOException {
        CommandRun batch = CommandRun.with(
                Map.of(),
                "{\"id\": \"a\", \"prompt\": \"hello\"}\n{\"id\": 2, \"prompt\": \"world\", \"seed\": 3, \"tokens\": 5}\n",
                "batch",
                "-m",
                model,
                "--receipts",
                "-n",
                "7");
        Path file = work.resolve("answers.jsonl");
        Files.writeString(file, batch.out());
        assertThat(replay(file).out()).isEqualTo("a: equal, 7 steps\n2: equal, 5 steps\n");
        assertThat(replay(file, "--json", "-e", "scalar").out()).isEqualTo("""
                        {"id":"a","equal":true,"steps":7,"difference":null}
                        {"id":2,"equal":true,"steps":5,"difference":null}
                        """);
    }

    @Test
    void whatIsNoReceiptIsRefused() throws IOException {
        Path file = work.resolve("file");
        assertRefused(file, "", " is empty, expected receipts");
        assertRefused(file, "nonsense\n", ", line 1, is no JSON");
        assertRefused(file, "\n{}\n", ", line 2: no receipt of form 1 was found");
        CommandRun run = replay(receipt("-n", "1"), "--dtype", "f32");
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("--dtype, --kv-dtype and --context are the receipt's, expected none of them");
    }

    private static void assertRefused(Path file, String content, String message) throws IOException {
        Files.writeString(file, content);
        CommandRun run = replay(file);
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILURE);
        assertThat(run.errLines()).containsExactly("transformers replay: " + file + message);
    }
}
