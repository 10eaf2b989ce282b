package io.github.tornadotransformers.models.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import com.sun.security.auth.module.UnixSystem;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Native files of DJL's jar in a folder that nobody else can write. What is loaded has the SHA-256 that
 * {@code native-libraries.sha256} says, whatever became of the folder since the file was unpacked.
 */
final class UnpackedFiles {
    private static final String HASHES = "native-libraries.sha256";
    private static final String JAR_FOLDER = "/native/lib/";
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("unix");
    private static final int ROOT = 0;
    /** Read whole, a library would make the heap of each start grow by its size. */
    private final Path folder;

    private final Map<String, String> hashes;

    private UnpackedFiles(Path folder, Map<String, String> hashes) {
        this.folder = folder;
        this.hashes = hashes;
    }

    /**
     * Makes the folder where it is not there.
     *
     * @throws CheckpointException if others can write it
     * @throws IOException if it is not there and cannot be made
     */
    static UnpackedFiles in(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(folder.getParent());
            Files.createDirectories(folder, forTheOwner());
        }
        if (POSIX) {
            requireOurs(folder);
        }
        return new UnpackedFiles(folder, hashes());
    }

    private static FileAttribute<?>[] forTheOwner() {
        return POSIX
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
                }
                : new FileAttribute<?>[0];
    }

    private static void requireOurs(Path folder) throws IOException {
        int owner = (int) Files.getAttribute(folder, "unix:uid");
        if (owner != ROOT && owner != new UnixSystem().getUid()) {
            throw new CheckpointException(Quoted.path(folder) + " belongs to " + Files.getOwner(folder)
                    + ", who could put another library there: remove it");
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(folder);
        if (permissions.contains(PosixFilePermission.OTHERS_WRITE)
                || permissions.contains(PosixFilePermission.GROUP_WRITE)) {
            throw new CheckpointException(Quoted.path(folder)
                    + " can be written by others, who could put another library there: chmod go-w, or remove it");
        }
    }

    /** By the file's name in the jar, below its folder of native files. */
    static Map<String, String> hashes() throws IOException {
        try (InputStream in = UnpackedFiles.class.getResourceAsStream(HASHES)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .map(line -> line.split("  ", 2))
                    .collect(Collectors.toMap(line -> line[1], line -> line[0]));
        }
    }

    /**
     * The file, copied from the jar unless it is there and sound; other processes see it whole or not at all.
     *
     * @param name as {@link #hashes} calls it
     * @throws FileNotFoundException if there is no such file
     */
    Path file(String name) throws IOException {
        String hash = hashes.get(name);
        if (hash == null) {
            throw new FileNotFoundException(name);
        }
        Path file = folder.resolve(Path.of(name).getFileName());
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && hashOf(file).equals(hash)) {
            return file;
        }
        WholeFile.write(file, contents(name, hash));
        return file;
    }

    private static byte[] contents(String name, String hash) throws IOException {
        try (InputStream in = TokenizersLibrary.class.getResourceAsStream(JAR_FOLDER + name)) {
            if (in == null) {
                throw new FileNotFoundException(name);
            }
            byte[] contents = in.readAllBytes();
            String found = Sha256.of(new ByteArrayInputStream(contents));
            if (!found.equals(hash)) {
                throw new IOException(name + " of its jar has SHA-256 " + found + ", expected " + hash);
            }
            return contents;
        }
    }

    private static String hashOf(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return Sha256.of(in);
        }
    }
}
