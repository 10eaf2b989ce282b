package io.github.tornadotransformers.models.gguf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** GGUF files byte by byte, right or wrong. */
public final class RawGguf {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** A file that says it has so many tensors and keys. */
    static RawGguf of(long tensors, long keys) {
        return new RawGguf().put32(0x4655_4747).put32(3).put64(tensors).put64(keys);
    }

    RawGguf put8(int value) {
        out.write(value);
        return this;
    }

    RawGguf put32(int value) {
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
        return this;
    }

    RawGguf put64(long value) {
        out.writeBytes(ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array());
        return this;
    }

    RawGguf text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        put64(bytes.length);
        out.writeBytes(bytes);
        return this;
    }

    /** A key and the type of its value, which follows. */
    RawGguf key(String key, int type) {
        return text(key).put32(type);
    }

    /** A tensor with its dimensions, innermost first. */
    RawGguf tensor(String name, int type, long offset, long... dimensions) {
        text(name).put32(dimensions.length);
        for (long dimension : dimensions) {
            put64(dimension);
        }
        return put32(type).put64(offset);
    }

    /** Zero bytes up to the next multiple of 32, and so many behind it. */
    RawGguf data(int bytes) {
        out.writeBytes(new byte[-out.size() & 31]);
        out.writeBytes(new byte[bytes]);
        return this;
    }

    byte[] bytes() {
        return out.toByteArray();
    }

    Path write(Path file) {
        return write(file, bytes());
    }

    public static Path write(Path file, byte[] bytes) {
        try {
            return Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
