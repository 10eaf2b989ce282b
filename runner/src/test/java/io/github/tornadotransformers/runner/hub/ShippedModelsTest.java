package io.github.tornadotransformers.runner.hub;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.CommandRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The models that come with the project run without a download, and say what they have always said. */
class ShippedModelsTest {
    private static final long MEBIBYTE = 1L << 20;
    private static final Path PROJECT = project();

    private static Path project() {
        Path candidate = Path.of("").toAbsolutePath();
        while (!Files.exists(candidate.resolve("transformers"))) {
            candidate = candidate.getParent();
        }
        return candidate;
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.with(Map.of("TRANSFORMERS_HOME", PROJECT.toString()), "", arguments);
    }

    @ParameterizedTest
    @CsvSource({
        "gpt2, 198 40 455 321 365 11 493 11 493 11 493 11",
        "llama, 198 40 466 258 460 11 493 11 296 321 258 460"
    })
    void greedyText(String command, String ids) throws IOException {
        CommandRun run = run(command, "ROMEO:", "--greedy", "-n", "12", "--json", "-q");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.json().get("ids").toString()).isEqualTo("[" + ids.replace(' ', ',') + "]");
        assertThat(run.json().get("model").textValue()).isEqualTo("shakespeare-" + command);
    }

    @ParameterizedTest
    @ValueSource(strings = {ShippedModels.GPT2, ShippedModels.LLAMA})
    void aModelIsSmallAndHasItsCard(String name) throws IOException {
        Path folder = PROJECT.resolve("pretrained").resolve(name);
        assertThat(folder.resolve("MODEL_CARD.md")).exists();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.mapToLong(ShippedModelsTest::size).sum()).isLessThan(3 * MEBIBYTE);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void tokenizeAndPerplexityUseTheDefaultOfLlama() {
        assertThat(run("tokenize", "ROMEO:", "--json").out())
                .isEqualTo(run("tokenize", "ROMEO:", "--json", "-m", ShippedModels.LLAMA)
                        .out());
        assertThat(run("perplexity", PROJECT.resolve(".gitignore").toString(), "--json")
                        .out())
                .contains("\"perplexity\":");
    }

    @Test
    void modelsListsThem() {
        assertThat(run("models").out()).contains(ShippedModels.GPT2, ShippedModels.LLAMA);
    }
}
