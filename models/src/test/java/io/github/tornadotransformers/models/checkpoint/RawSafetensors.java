package io.github.tornadotransformers.models.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Safetensors files byte by byte, right or wrong. */
final class RawSafetensors {
    private RawSafetensors() {}

    /** A file of a header as given and as many zero bytes of data. */
    static Path write(Path file, String header, int dataBytes) {
        return write(file, header.getBytes(StandardCharsets.UTF_8), dataBytes);
    }

    static Path write(Path file, byte[] header, int dataBytes) {
        return writeBytes(file, bytes(header.length, header, dataBytes));
    }

    /** The bytes of a file whose first eight say what they like. */
    static byte[] bytes(long statedLength, byte[] header, int dataBytes) {
        return ByteBuffer.allocate(Long.BYTES + header.length + dataBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(statedLength)
                .put(header)
                .array();
    }

    static Path writeBytes(Path file, byte[] bytes) {
        try {
            return Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One tensor of a header. */
    static String tensor(String name, String dtype, String shape, long begin, long end) {
        return "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                .formatted(name, dtype, shape, begin, end);
    }
}
