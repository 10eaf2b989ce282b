package io.github.tornadotransformers.models.gguf;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Reads a file from its beginning on, little-endian. Nothing is taken that the file does not have. */
final class GgufInput {
    private static final int BUFFER = 1 << 16;

    /** What a lenient decoder puts where bytes are no UTF-8. */
    private static final char REPLACEMENT = '\uFFFD';

    private final Path file;
    private final FileChannel channel;
    private final long size;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
    private long position;

    GgufInput(Path file, FileChannel channel) throws IOException {
        this.file = file;
        this.channel = channel;
        this.size = channel.size();
        buffer.limit(0);
    }

    /** Bytes of the whole file. */
    long size() {
        return size;
    }

    /** How many bytes have been read. */
    long position() {
        return position;
    }

    long remaining() {
        return size - position;
    }

    int readByte(String what) throws IOException {
        return buffered(Byte.BYTES, what).get();
    }

    int readShort(String what) throws IOException {
        return buffered(Short.BYTES, what).getShort();
    }

    int readInt(String what) throws IOException {
        return buffered(Integer.BYTES, what).getInt();
    }

    long readLong(String what) throws IOException {
        return buffered(Long.BYTES, what).getLong();
    }

    /** A count of things of so many bytes each, at least, that follow. */
    int readCount(String what, int bytesOfEach) throws IOException {
        long count = readLong("the number of " + what);
        if (Long.compareUnsigned(count, remaining() / bytesOfEach) > 0) {
            throw rejected("it says that " + Long.toUnsignedString(count) + " " + what + " follow, but only "
                    + remaining() + " bytes do: not a GGUF file, or an incomplete download");
        }
        if (count > Integer.MAX_VALUE) {
            throw rejected("it has " + count + " " + what + ", expected at most " + Integer.MAX_VALUE);
        }
        return (int) count;
    }

    /**
     * A text: its length in bytes, then UTF-8.
     *
     * @param maxBytes that it may have
     */
    String readText(String what, long maxBytes) throws IOException {
        long length = readLong("the length of " + what);
        if (Long.compareUnsigned(length, remaining()) > 0) {
            throw rejected(what + " has " + Long.toUnsignedString(length) + " bytes, but only " + remaining()
                    + " follow: not a GGUF file, or an incomplete download");
        }
        if (length > maxBytes) {
            throw rejected(what + " has " + length + " bytes, expected at most " + maxBytes);
        }
        byte[] bytes = readBytes((int) length, what);
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.indexOf(REPLACEMENT) < 0 ? text : strictText(bytes, what);
    }

    /** As the text is, unless the bytes are no UTF-8; slower than what leaves a replacement in the text. */
    private String strictText(byte[] bytes, String what) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new CheckpointException(Quoted.path(file) + ": " + what + " is not UTF-8", e);
        }
    }

    private byte[] readBytes(int length, String what) throws IOException {
        byte[] bytes = new byte[length];
        for (int at = 0; at < length; ) {
            int count = Math.min(length - at, BUFFER);
            buffered(count, what).get(bytes, at, count);
            at += count;
        }
        return bytes;
    }

    /** The buffer, with at least so many bytes in it. */
    private ByteBuffer buffered(int bytes, String what) throws IOException {
        if (buffer.remaining() < bytes) {
            buffer.compact();
            while (buffer.position() < bytes) {
                if (channel.read(buffer) < 0) {
                    throw rejected("the file ends in the middle of " + what + ": it has " + size
                            + " bytes (an incomplete download?)");
                }
            }
            buffer.flip();
        }
        position += bytes;
        return buffer;
    }

    CheckpointException rejected(String words) {
        return new CheckpointException(Quoted.path(file) + ": " + words);
    }
}
