package io.github.tornadotransformers.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
    private static final String RESOURCE = "/native/lib/tokenizers.properties";

    @TempDir
    Path folder;

    @Test
    void aFileIsUnpackedAndNothingElseIsLeft() throws IOException {
        Path file = NativeLibrary.unpack(RESOURCE, folder.resolve("file"));
        assertThat(file).content().startsWith("version=");
        assertThat(folder.toFile().list()).containsExactly("file");
    }

    @Test
    void aFileThatIsThereIsUsedAsItIs() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "mine");
        assertThat(NativeLibrary.unpack(RESOURCE, file)).hasContent("mine");
    }

    @Test
    void aLibraryThatTheJarLacksLeavesNothing() {
        Path file = folder.resolve("file");
        assertThrows(FileNotFoundException.class, () -> NativeLibrary.unpack("/native/lib/none", file));
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void loadingTwiceIsLoadingOnce() {
        NativeLibrary.load();
        NativeLibrary.load();
    }
}
