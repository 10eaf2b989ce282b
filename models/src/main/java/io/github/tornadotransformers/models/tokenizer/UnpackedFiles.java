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
import java.util.zip.CRC32;

/**
 * Native files of DJL's jar in a folder that nobody else can write. What is unpacked has the SHA-256 that
 * {@code native-libraries.sums} says. What lies there already has its CRC-32, which finds damage in a hundredth of the time:
 * a new JVM takes a tenth of a second for SHA-256 of a library, at each start.
 */
final class UnpackedFiles {
    private static final String SUMS = "native-libraries.sums";
    private static final String BETWEEN = "  ";
    private static final int HEXADECIMAL = 16;
    private static final String JAR_FOLDER = "/native/lib/";
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("unix");
    private static final int ROOT = 0;

    /** Read whole, a library would make the heap of each start grow by its size. */
    private static final int PART_BYTES = 1 << 16;

    private final Path folder;
    private final Map<String, Sums> sums;

    /**
     * Of a file's bytes.
     *
     * @param sha256 in hexadecimal digits
     */
    record Sums(String sha256, long crc32) {}

    private UnpackedFiles(Path folder, Map<String, Sums> sums) {
        this.folder = folder;
        this.sums = sums;
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
        return new UnpackedFiles(folder, sums());
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
    static Map<String, Sums> sums() throws IOException {
        try (InputStream in = UnpackedFiles.class.getResourceAsStream(SUMS)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .map(line -> line.split(BETWEEN))
                    .collect(Collectors.toMap(
                            line -> line[2], line -> new Sums(line[0], Long.parseLong(line[1], HEXADECIMAL))));
        }
    }

    /**
     * The file, copied from the jar unless it is there and sound; other processes see it whole or not at all.
     *
     * @param name as {@link #sums} calls it
     * @throws FileNotFoundException if there is no such file
     */
    Path file(String name) throws IOException {
        Sums expected = sums.get(name);
        if (expected == null) {
            throw new FileNotFoundException(name);
        }
        Path file = folder.resolve(Path.of(name).getFileName());
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && crc32(file) == expected.crc32()) {
            return file;
        }
        WholeFile.write(file, contents(name, expected.sha256()));
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

    private static long crc32(Path file) throws IOException {
        CRC32 crc = new CRC32();
        byte[] part = new byte[PART_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            for (int read = in.read(part); read >= 0; read = in.read(part)) {
                crc.update(part, 0, read);
            }
        }
        return crc.getValue();
    }
}
