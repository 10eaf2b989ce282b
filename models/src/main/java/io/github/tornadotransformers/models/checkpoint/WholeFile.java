package io.github.tornadotransformers.models.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes a file whole or not at all: beside it first, forced to the disk, then moved into its place. */
public final class WholeFile {
    private WholeFile() {}

    /** Writes a file's contents. */
    @FunctionalInterface
    public interface Contents {
        void writeTo(FileChannel channel) throws IOException;
    }

    /** @throws IOException if it cannot be written; an older file of that name is then as it was */
    public static void write(Path file, Contents contents) throws IOException {
        Path partial = file.resolveSibling(
                file.getFileName() + "." + ProcessHandle.current().pid() + ".partial");
        try {
            try (FileChannel channel = FileChannel.open(
                    partial,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE)) {
                contents.writeTo(channel);
                channel.force(true);
            }
            Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    /** @throws IOException if it cannot be written; an older file of that name is then as it was */
    public static void write(Path file, byte[] contents) throws IOException {
        write(file, channel -> writeFully(channel, ByteBuffer.wrap(contents)));
    }

    /** Writes all that a buffer has left, from where the channel is. */
    public static void writeFully(FileChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }
}
