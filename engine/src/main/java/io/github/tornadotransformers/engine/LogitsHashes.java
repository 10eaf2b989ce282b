package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.generation.GenerationListener;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Hashes the logits of which each token was chosen: the first 64 bits of the SHA-256 of their float32 bits, little-endian, in
 * hexadecimal digits. Hears a text for someone else.
 */
public final class LogitsHashes implements GenerationListener {
    private static final int BYTES = Long.BYTES;

    private final GenerationListener listener;
    private final MessageDigest digest;
    private final ByteBuffer bytes;
    private final int vocabSize;
    private final List<String> hashes = new ArrayList<>();

    /** @param listener hears the text */
    public LogitsHashes(int vocabSize, GenerationListener listener) {
        this.vocabSize = vocabSize;
        this.listener = listener;
        bytes = ByteBuffer.allocate(Math.multiplyExact(vocabSize, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
        digest = Sha256.digest();
    }

    /** One for each token that was chosen, the end token included. */
    public List<String> hashes() {
        return List.copyOf(hashes);
    }

    int count() {
        return hashes.size();
    }

    String last() {
        return hashes.getLast();
    }

    @Override
    public void chosen(int token, float[] logits, int offset) {
        bytes.asFloatBuffer().put(logits, offset, vocabSize);
        hashes.add(HexFormat.of().formatHex(digest.digest(bytes.array()), 0, BYTES));
        listener.chosen(token, logits, offset);
    }

    @Override
    public void text(String piece) {
        listener.text(piece);
    }

    @Override
    public void promptRun(int tokens) {
        listener.promptRun(tokens);
    }

    @Override
    public boolean isCancelled() {
        return listener.isCancelled();
    }
}
