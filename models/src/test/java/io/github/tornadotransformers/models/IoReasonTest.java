package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JDK's messages are often the file's name alone; ours say why. */
class IoReasonTest {
    @TempDir
    private Path folder;

    @Test
    void knownKinds() {
        assertThat(IoReason.of(new NoSuchFileException("f"))).isEqualTo("f does not exist");
        assertThat(IoReason.of(new AccessDeniedException("f"))).isEqualTo("no permission for f");
        assertThat(IoReason.of(new NotDirectoryException("f"))).isEqualTo("f is not a folder");
        assertThat(IoReason.of(new FileSystemException("f", null, "No space left on device")))
                .isEqualTo("No space left on device");
        assertThat(IoReason.of(new FileSystemException("f"))).isEqualTo("FileSystemException");
        assertThat(IoReason.of(new IOException("Broken pipe"))).isEqualTo("Broken pipe");
        assertThat(IoReason.of(new IOException())).isEqualTo("IOException");
    }

    @Test
    void aFileWhereAFolderIsToBe() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        IOException refusal = null;
        try {
            Files.createDirectories(file);
        } catch (IOException e) {
            refusal = e;
        }
        assertThat(refusal).isNotNull();
        assertThat(IoReason.of(refusal)).isEqualTo(file + " is a file");
    }

    @Test
    void controlCharactersAreEscaped() {
        assertThat(IoReason.of(new NoSuchFileException("a\u001bb"))).isEqualTo("a\\u001bb does not exist");
        assertThat(IoReason.of(new IOException("a\nb"))).isEqualTo("a\\u000ab");
    }
}
