package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OtherCommandsTest {
    @TempDir
    private static Path folder;

    private static String gpt2;
    private static String llama;

    @BeforeAll
    static void writeModels() {
        gpt2 = SmallModels.gpt2(folder.resolve("gpt2")).toString();
        llama = SmallModels.llama(folder.resolve("llama")).toString();
    }

    @Test
    void tokenizeShowsIdsPiecesAndTheRoundTrip() {
        CommandRun run = CommandRun.of("tokenize", "-m", gpt2, "hello world");
        assertThat(run.out()).isEqualTo("""
                            259  hello
                            262  Ġwor
                            108  l
                            100  d
                        4 tokens; they decode to the same text
                        """);
    }

    @Test
    void tokenizeAddsNoSpecialTokens() {
        JsonNode json =
                CommandRun.of("tokenize", "-m", llama, "--json", "hello").json();
        assertThat(json.toString()).isEqualTo("{\"ids\":[291],\"pieces\":[\"▁hello\"],\"text\":\"hello\"}");
    }

    @Test
    void tokenizeReadsStandardInputToItsLastNewline() {
        JsonNode json = CommandRun.with(Map.of(), "hello\n", "tokenize", "-", "-m", gpt2, "--json")
                .json();
        assertThat(json.get("text").asText()).isEqualTo("hello\n");
        assertThat(json.get("ids").toString()).isEqualTo("[259,10]");
    }

    @Test
    void tokenizeNeedsOnlyTheTokenizersFiles() throws IOException {
        Path alone = Files.createDirectory(folder.resolve("tokenizer alone"));
        Files.copy(Path.of(gpt2, "tokenizer.json"), alone.resolve("tokenizer.json"));
        assertThat(CommandRun.of("tokenize", "-m", alone.toString(), "hello").exitCode())
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void perplexityIsTheExponentialOfTheMean() throws IOException {
        Path text = Files.writeString(folder.resolve("text"), "hello world, hello all the world");
        JsonNode json = CommandRun.of("perplexity", text.toString(), "-m", gpt2, "--json")
                .json();
        int inputs = CommandRun.of("tokenize", "-m", gpt2, "--json", Files.readString(text))
                        .json()
                        .get("ids")
                        .size()
                - 1;
        assertThat(json.get("tokens").asInt()).isEqualTo(inputs);
        assertThat(json.get("perplexity").asDouble())
                .isCloseTo(Math.exp(json.get("mean_nll").asDouble()), Offset.offset(1e-9));
    }

    @Test
    void perplexityIsTheSameOnBothHostEngines() throws IOException {
        Path text = Files.writeString(folder.resolve("long text"), "hello world ".repeat(40));
        JsonNode host = CommandRun.of("perplexity", text.toString(), "-m", llama, "--json", "-e", "host")
                .json();
        JsonNode scalar = CommandRun.of("perplexity", text.toString(), "-m", llama, "--json", "-e", "scalar")
                .json();
        assertThat(host).isEqualTo(scalar);
    }

    @Test
    void perplexityOfTheStoryIsAsPublished() throws IOException {
        Path model = SharedData.require("models/stories260K");
        JsonNode golden = new ObjectMapper()
                .readTree(SharedData.require("golden/stories260K-200.json").toFile());
        Path text =
                Files.writeString(folder.resolve("story"), golden.get("text").asText());
        JsonNode json = CommandRun.of("perplexity", text.toString(), "-m", model.toString(), "--json")
                .json();
        assertThat(json.get("mean_nll").asDouble())
                .isCloseTo(golden.get("mean_nll_200_targets").asDouble(), Offset.offset(1e-4));
    }

    /** Narrower weights cost a model that was trained in float32 little; a wrong scale or order would cost all. */
    @ParameterizedTest
    @CsvSource({"bf16, 0.001", "f16, 0.0005", "int8, 0.003"})
    void narrowWeightsRaiseThePerplexityByThousandthsAtMost(String dtype, double share) throws IOException {
        Path model = SharedData.require("models/stories260K");
        JsonNode golden = new ObjectMapper()
                .readTree(SharedData.require("golden/stories260K-200.json").toFile());
        Path text =
                Files.writeString(folder.resolve("story"), golden.get("text").asText());
        JsonNode wide = CommandRun.of("perplexity", text.toString(), "-m", model.toString(), "--json")
                .json();
        JsonNode narrow = CommandRun.of(
                        "perplexity", text.toString(), "-m", model.toString(), "--json", "--dtype", dtype)
                .json();
        double perplexity = wide.get("perplexity").asDouble();
        assertThat(narrow.get("perplexity").asDouble()).isCloseTo(perplexity, Offset.offset(share * perplexity));
        assertThat(narrow.get("perplexity")).isNotEqualTo(wide.get("perplexity"));
    }

    @Test
    void perplexityOfAMissingFile() {
        CommandRun run = CommandRun.of("perplexity", "nix", "-m", gpt2);
        assertThat(run)
                .isEqualTo(new CommandRun(
                        ExitCode.FAILURE, "", "transformers perplexity: nix does not exist, expected a text file\n"));
    }

    @Test
    void perplexityOfAFileThatIsNotText() throws IOException {
        Path file = Files.write(folder.resolve("binary"), new byte[] {'a', (byte) 0xFF});
        CommandRun run = CommandRun.of("perplexity", file.toString(), "-m", gpt2);
        assertThat(run)
                .isEqualTo(new CommandRun(
                        ExitCode.FAILURE, "", "transformers perplexity: " + file + " is not UTF-8 text\n"));
    }

    @Test
    void perplexityOfOneToken() throws IOException {
        Path file = Files.writeString(folder.resolve("short"), "h");
        CommandRun run = CommandRun.of("perplexity", file.toString(), "-m", gpt2, "-q");
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("the text has 1 token; perplexity needs 2");
    }

    @Test
    void modelsListsTheCacheAndWhatIsWrongWithIt() throws IOException {
        Path cache = Files.createDirectory(folder.resolve("cache"));
        SmallModels.llama(cache.resolve("mine"));
        Files.createDirectory(cache.resolve(".native"));
        Files.writeString(Files.createDirectory(cache.resolve("gpt2")).resolve("config.json"), "{}");
        JsonNode cached = CommandRun.with(Map.of("TRANSFORMERS_CACHE", cache.toString()), "", "models", "--json")
                .json()
                .get("cached");
        assertThat(cached).hasSize(2);
        assertThat(cached.get(0).get("name").asText()).isEqualTo("gpt2");
        assertThat(cached.get(0).get("complete").asBoolean()).isFalse();
        assertThat(cached.get(1).get("model_type").asText()).isEqualTo("llama");
        assertThat(cached.get(1).get("dtype").asText()).isEqualTo("f32");
        assertThat(cached.get(1).get("bytes").asLong())
                .isGreaterThan(Files.size(cache.resolve("mine/model.safetensors")));
    }

    @Test
    void modelInTheCacheIsFoundByItsFoldersName() throws IOException {
        Path cache = Files.createDirectory(folder.resolve("cache by hand"));
        SmallModels.llama(cache.resolve("mine"));
        CommandRun run = CommandRun.with(
                Map.of("TRANSFORMERS_CACHE", cache.toString()), "", "llama", "-m", "mine", "-n", "1", "-q", "hello");
        assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
    }

    @Test
    void knownNameInTheCacheIsUsedAsItIs() throws IOException {
        Path cache = Files.createDirectory(folder.resolve("cache of names"));
        SmallModels.llama(cache.resolve("tinyllama"));
        CommandRun run = CommandRun.with(
                Map.of("TRANSFORMERS_CACHE", cache.toString()),
                "",
                "llama",
                "-m",
                "tinyllama",
                "-n",
                "1",
                "-q",
                "hello");
        assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
        assertThat(run.err()).isEmpty();
    }

    @Test
    void devicesWithoutSdkSaysHowToGetOne() {
        CommandRun run = CommandRun.of("devices");
        assertThat(run)
                .isEqualTo(new CommandRun(
                        ExitCode.NO_ENGINE,
                        "",
                        "transformers devices: no TornadoVM SDK was found: ./tornado-env.sh says how to get one; the"
                                + " engines host and scalar need none\n"));
    }

    @Test
    void devicesWithoutSdkInJsonIsAnEmptyList() {
        assertThat(CommandRun.of("devices", "--json").out()).isEqualTo("{\"sdk\":null,\"devices\":[]}\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "gpt2", "llama", "tokenize", "perplexity", "jmh", "models", "devices", "test"})
    void helpFitsEightyColumns(String command) {
        CommandRun run = command.isEmpty() ? CommandRun.of("--help") : CommandRun.of(command, "--help");
        assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).startsWith("Usage: transformers " + command);
        assertThat(run.out().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @Test
    void versionNamesTheJvm() {
        CommandRun run = CommandRun.of("--version");
        assertThat(run.out()).startsWith("tornado-transformers ").contains("Java 25");
    }

    @Test
    void aLogTellsWhatWasRunWhatWasSaidAndHowItEnded(@TempDir Path folder) {
        Path log = folder.resolve("log.txt");
        CommandRun run = CommandRun.of("models", "show", "no-such/model", "--log", log.toString());
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(log).content().satisfies(text -> {
            assertThat(text.lines()).hasSize(3).allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT.*Z .*"));
            assertThat(text)
                    .contains(
                            "transformers models show, tornado-transformers ",
                            run.err().strip(),
                            " exit code 1");
        });
    }

    @Test
    void aLogThatCannotBeWrittenIsSaidBeforeAnythingRuns(@TempDir Path folder) {
        Path log = folder.resolve("absent/log.txt");
        CommandRun run = CommandRun.of("models", "--log", log.toString());
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("--log is " + log + ", expected a file in a folder that is there");
    }

    /** {@code man} itself reads the page, where it is. */
    @Test
    void theManualPageHasEveryCommandAndOption(@TempDir Path folder) throws IOException, InterruptedException {
        CommandRun run = CommandRun.of("man");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith(".TH TRANSFORMERS 1 ").contains(".SS \"transformers models pull\"");
        for (String help : List.of("generate", "serve", "batch")) {
            CommandRun.of(help, "--help")
                    .out()
                    .lines()
                    .map(String::strip)
                    .filter(line -> line.startsWith("--"))
                    .forEach(line -> {
                        String option = line.replaceAll("[^a-z-].*", "");
                        assertThat(run.out()).contains("\\fB" + option.replace("-", "\\-") + "\\fR");
                    });
        }
        Path groff = Path.of("/usr/bin/groff");
        assumeTrue(Files.isExecutable(groff), "groff is not installed");
        Path page = Files.writeString(folder.resolve("transformers.1"), run.out());
        Process warnings = new ProcessBuilder(groff.toString(), "-man", "-Tutf8", "-ww", "-z", page.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(warnings.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEmpty();
        assertThat(warnings.waitFor()).isZero();
    }

    /** Bash itself is asked what it would complete. */
    @Test
    void aShellCompletesCommandsAndOptions() throws IOException, InterruptedException {
        CommandRun run = CommandRun.of("completion");
        assertThat(run.exitCode()).isZero();
        String asked = "compopt() { :; }\n" + run.out() + """
                COMP_WORDS=(transformers gen) COMP_CWORD=1 COMP_LINE='transformers gen'
                _complete_transformers; echo "${COMPREPLY[@]}"
                COMP_WORDS=(transformers generate --temp) COMP_CWORD=2 COMP_LINE='transformers generate --temp'
                _complete_transformers; echo "${COMPREPLY[@]}"
                """;
        Process bash =
                new ProcessBuilder("bash", "-s").redirectErrorStream(true).start();
        try (OutputStream in = bash.getOutputStream()) {
            in.write(asked.getBytes(StandardCharsets.UTF_8));
        }
        String completed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(completed).isZero();
        assertThat(completed.lines()).containsExactly("generate", "--temperature");
    }
}
