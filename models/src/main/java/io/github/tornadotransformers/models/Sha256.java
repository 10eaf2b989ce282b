package io.github.tornadotransformers.models;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 (FIPS 180-4), which every JVM has. */
public final class Sha256 {
    private static final int PART_BYTES = 1 << 16;

    private Sha256() {}

    /** A digest of nothing so far. */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    /** The hexadecimal digits of a text's UTF-8. */
    public static String of(String text) {
        return HexFormat.of().formatHex(digest().digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * The hexadecimal digits of what a stream has, to its end.
     *
     * @throws IOException if it cannot be read
     */
    public static String of(InputStream stream) throws IOException {
        MessageDigest digest = digest();
        byte[] part = new byte[PART_BYTES];
        for (int read = stream.read(part); read >= 0; read = stream.read(part)) {
            digest.update(part, 0, read);
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
