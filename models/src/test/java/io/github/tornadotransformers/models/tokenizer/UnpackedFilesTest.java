package io.github.tornadotransformers.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Sha256;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnpackedFilesTest {
    /** The smallest. */
    private static final String NAME = "win-x86_64/cpu/libwinpthread-1.dll";

    private static final String FILE = "libwinpthread-1.dll";

    @TempDir
    private Path cache;

    private Path folder;

    @BeforeEach
    void chooseFolder() {
        folder = cache.resolve(".native/library");
    }

    /** A new version of the library needs new sums: {@code sha256sum} and {@code crc32} of the files in the jar's native folder. */
    @Test
    void everyNativeFileOfTheJarHasItsSums() throws IOException, URISyntaxException {
        Map<String, UnpackedFiles.Sums> found = new TreeMap<>();
        Path jar = Path.of(TokenizersLibrary.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                String name = entry.getName();
                if (name.startsWith("native/lib/") && name.contains("/cpu/") && !entry.isDirectory()) {
                    String sha256 = Sha256.of(zip.getInputStream(entry));
                    found.put(name.substring("native/lib/".length()), new UnpackedFiles.Sums(sha256, entry.getCrc()));
                }
            }
        }
        assertThat(found).containsKey("linux-x86_64/cpu/libtokenizers.so").isEqualTo(UnpackedFiles.sums());
    }

    @Test
    void aFileIsUnpackedAndNothingElseIsLeft() throws IOException {
        assertThat(UnpackedFiles.in(folder).file(NAME)).isEqualTo(folder.resolve(FILE));
        assertSound();
        assertThat(folder.toFile().list()).containsExactly(FILE);
    }

    @Test
    void aSoundFileIsUsedAsItIs() throws IOException {
        Path file = UnpackedFiles.in(folder).file(NAME);
        Object before = Files.readAttributes(file, "lastModifiedTime,fileKey");
        UnpackedFiles.in(folder).file(NAME);
        assertThat((Object) Files.readAttributes(file, "lastModifiedTime,fileKey"))
                .isEqualTo(before);
    }

    @Test
    void aFileThatWasCutShortIsUnpackedAgain() throws IOException {
        Path file = UnpackedFiles.in(folder).file(NAME);
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length / 2));
        UnpackedFiles.in(folder).file(NAME);
        assertSound();
    }

    @Test
    void aFileThatWasReplacedIsUnpackedAgain() throws IOException {
        Path file = UnpackedFiles.in(folder).file(NAME);
        byte[] other = Files.readAllBytes(file);
        other[other.length / 2] ^= 1;
        Files.write(file, other);
        UnpackedFiles.in(folder).file(NAME);
        assertSound();
    }

    /** What a link points to may change after it was looked at. */
    @Test
    void aLinkIsReplacedByTheFile() throws IOException {
        Path elsewhere = Files.move(UnpackedFiles.in(folder).file(NAME), cache.resolve("elsewhere"));
        Files.createSymbolicLink(folder.resolve(FILE), elsewhere);
        assertThat(UnpackedFiles.in(folder).file(NAME)).isRegularFile();
        assertThat(Files.isSymbolicLink(folder.resolve(FILE))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwx---", "rwxr-xrwx", "rwxrwxrwx"})
    void aFolderThatOthersCanWriteIsRefused(String permissions) throws IOException {
        requirePosix();
        Files.createDirectories(folder);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(permissions));
        assertThat(assertThrows(CheckpointException.class, () -> UnpackedFiles.in(folder)))
                .hasMessage(folder
                        + " can be written by others, who could put another library there: chmod go-w, or remove it");
    }

    @Test
    void aFolderOfAnotherUserIsRefused() throws IOException {
        requirePosix();
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can give a folder away");
        Files.createDirectories(folder);
        Files.setAttribute(folder, "unix:uid", 12_345);
        assertThat(assertThrows(CheckpointException.class, () -> UnpackedFiles.in(folder)))
                .hasMessage(folder + " belongs to 12345, who could put another library there: remove it");
    }

    @Test
    void aNewFolderIsTheOwnersAlone() throws IOException {
        requirePosix();
        UnpackedFiles.in(folder);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                .isEqualTo("rwx------");
    }

    @Test
    void aFileThatTheJarLacksLeavesNothing() throws IOException {
        UnpackedFiles files = UnpackedFiles.in(folder);
        assertThrows(FileNotFoundException.class, () -> files.file("none"));
        assertThat(folder).isEmptyDirectory();
    }

    private void assertSound() throws IOException {
        try (InputStream in = Files.newInputStream(folder.resolve(FILE))) {
            assertThat(Sha256.of(in)).isEqualTo(UnpackedFiles.sums().get(NAME).sha256());
        }
    }

    private void requirePosix() throws IOException {
        FileStore store = Files.getFileStore(cache);
        assumeTrue(
                store.supportsFileAttributeView(PosixFileAttributeView.class), "the file system knows no permissions");
    }
}
