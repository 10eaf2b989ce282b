package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Locale;

/** Reads a checkpoint's files with the checks that all of them need. */
public final class CheckpointFiles {
    /** Far more than any {@code config.json} or index has. */
    public static final long MAX_JSON_BYTES = 64L << 20;

    private static final String LFS_POINTER = "version https://git-lfs.github.com/spec/";

    private CheckpointFiles() {}

    /**
     * Checks that the file is there, is a file or a link to one, can be read, and is not the pointer that Git leaves in place of a large file.
     *
     * @throws CheckpointException if not
     */
    public static void requireContents(Path file) {
        requireTarget(file);
        if (Files.isDirectory(file)) {
            throw new CheckpointException(Quoted.path(file) + " is a directory, expected a file");
        }
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new CheckpointException(Quoted.path(file) + " is not a regular file");
        }
        try (InputStream stream = Files.newInputStream(file)) {
            byte[] start = stream.readNBytes(LFS_POINTER.length());
            if (new String(start, StandardCharsets.ISO_8859_1).equals(LFS_POINTER)) {
                throw new CheckpointException(
                        Quoted.path(file)
                                + " is a Git LFS pointer, not the file: run `git lfs pull` in its folder, or download the file");
            }
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }

    /** Whether there is a file of that name, be it a link that leads nowhere: whoever reads that is told so. */
    static boolean isThere(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }

    /** @throws CheckpointException if it is a link to what does not exist */
    static void requireTarget(Path file) {
        if (Files.isSymbolicLink(file) && Files.notExists(file)) {
            throw new CheckpointException(
                    Quoted.path(file) + " is a link to " + Quoted.path(target(file)) + ", which does not exist");
        }
    }

    private static Path target(Path link) {
        try {
            return Files.readSymbolicLink(link);
        } catch (IOException e) {
            throw CheckpointException.unreadable(link, e);
        }
    }

    /**
     * Fills the rest of a buffer from a place in the file.
     *
     * @throws CheckpointException if the file ends before
     */
    static void readFully(Path file, FileChannel channel, ByteBuffer buffer, long offset) throws IOException {
        int start = buffer.position();
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, offset + buffer.position() - start) < 0) {
                throw new CheckpointException(Quoted.path(file) + " became shorter while it was read: it has "
                        + channel.size() + " bytes, expected at least " + (offset + buffer.limit() - start));
            }
        }
    }

    /** @throws CheckpointException if the file cannot be read or is not a JSON object */
    public static ObjectNode readJson(Path file) {
        requireContents(file);
        try {
            long bytes = Files.size(file);
            if (bytes > MAX_JSON_BYTES) {
                throw new CheckpointException(
                        Quoted.path(file) + " has " + bytes + " bytes, expected at most " + MAX_JSON_BYTES);
            }
            JsonNode root = JsonTree.parse(Files.readAllBytes(file));
            if (root instanceof ObjectNode object) {
                return object;
            }
            String found = root.isMissingNode()
                    ? "empty"
                    : "a JSON " + root.getNodeType().name().toLowerCase(Locale.ROOT);
            throw new CheckpointException(Quoted.path(file) + " is " + found + ", expected a JSON object");
        } catch (JacksonException e) {
            throw new CheckpointException(Quoted.path(file) + " is not valid JSON" + JsonFault.describe(e), e);
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }
}
