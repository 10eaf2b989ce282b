package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExportCommandTest {
    @TempDir
    private static Path folder;

    private static String llama;
    private static String file;

    @BeforeAll
    static void exportAModel() {
        llama = SmallModels.llama(folder.resolve("llama")).toString();
        file = folder.resolve("llama.gguf").toString();
        CommandRun.of("export", llama, "--gguf", file, "--type", "f32");
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "scalar"})
    void theFileGivesTheFoldersText(String engine) {
        assertThat(generated(file, engine)).isEqualTo(generated(llama, engine));
    }

    private static String generated(String model, String engine) {
        return CommandRun.of("generate", "hello", "-m", model, "-n", "8", "--greedy", "-q", "-e", engine)
                .out();
    }

    @Test
    void theFileHasTheFoldersTokenizer() {
        assertThat(CommandRun.of("tokenize", "-m", file, "hello world").out())
                .isEqualTo(CommandRun.of("tokenize", "-m", llama, "hello world").out());
    }

    @Test
    void aFolderThatIsNotThereIsNamedBeforeAnythingIsRead() {
        CommandRun run = CommandRun.of("export", "nothing", "--gguf", "/nowhere/model.gguf");
        assertThat(run.err()).contains("--gguf is /nowhere/model.gguf, expected a file in a folder that is there");
    }

    @Test
    void aTypeThatIsNotWrittenIsAWrongCall() {
        assertThat(CommandRun.of("export", llama, "--gguf", file, "--type", "q4_k")
                        .err())
                .contains("expected one of f32, f16, bf16, q8_0, q4_0");
    }
}
