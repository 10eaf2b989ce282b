package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --pack}; what a pack holds has tests of its own. */
class PackTest {
    @TempDir
    private Path folder;

    private CommandRun run(String... arguments) {
        return CommandRun.with(Map.of("TRANSFORMERS_CACHE", folder.toString()), "", arguments);
    }

    private JsonNode ids(String... options) {
        String[] call = {"generate", "-m", "mine", "--prompt-ids", "1,2", "-n", "5", "--json"};
        CommandRun run = run(Stream.concat(Stream.of(call), Stream.of(options)).toArray(String[]::new));
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
        return run.json().get("ids");
    }

    private List<Path> packs() {
        try (Stream<Path> files = Files.list(folder.resolve(".packs"))) {
            return files.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void packedWeightsSayTheSame() {
        SmallModels.llama(folder.resolve("mine"));
        JsonNode expected = ids();
        assertThat(ids("--pack")).isEqualTo(expected);
        assertThat(packs()).hasSize(1);
        assertThat(ids("--pack")).isEqualTo(expected);
        assertThat(ids("--pack", "-e", "scalar")).isEqualTo(expected);
        assertThat(packs()).hasSize(1);
        assertThat(ids("--pack", "--dtype", "int8")).isEqualTo(ids("--dtype", "int8"));
        assertThat(packs()).hasSize(2);
    }

    @Test
    void whyAPackIsMadeAgainIsSaid() throws IOException {
        SmallModels.llama(folder.resolve("mine"));
        JsonNode expected = ids("--pack");
        byte[] bytes = Files.readAllBytes(packs().getFirst());
        bytes[bytes.length - 1] ^= 1;
        Files.write(packs().getFirst(), bytes);
        CommandRun run = run("generate", "-m", "mine", "--prompt-ids", "1,2", "-n", "5", "--json", "--pack");
        assertThat(run.err()).contains("the pack " + packs().getFirst() + " is damaged: it is made again\n");
        assertThat(run.json().get("ids")).isEqualTo(expected);
    }

    @Test
    void packsGoWithTheirModel() {
        SmallModels.llama(folder.resolve("mine"));
        SmallModels.llama(folder.resolve("mine2"));
        ids("--pack");
        run("generate", "-m", "mine2", "--prompt-ids", "1", "-n", "1", "--pack");
        assertThat(packs()).hasSize(2);
        assertThat(run("models", "rm", "--yes", "mine").exitCode()).isEqualTo(ExitCode.OK);
        assertThat(packs()).singleElement().asString().contains("mine2");
    }

    @Test
    void devicesHaveNoPacks() {
        CommandRun run = run("generate", "-m", "mine", "--pack", "-e", "tornado", "x");
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("--pack is for the engines of the host, and the engine is tornado");
    }
}
