package io.github.tornadotransformers.models.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;

/** A tokenizer inside Hugging Face's library, freed when it is no longer reachable. */
final class NativeTokenizer {
    private static final Cleaner CLEANER = Cleaner.create();

    private final long handle;
    private final String source;

    /** @throws CheckpointException with the library's words, if it does not accept the text of a {@code tokenizer.json} */
    NativeTokenizer(String json, String source) {
        NativeLibrary.load();
        long created = create(json, source);
        handle = created;
        this.source = source;
        CLEANER.register(this, () -> TokenizersLibrary.LIB.deleteTokenizer(created));
    }

    private static long create(String json, String source) {
        try {
            return TokenizersLibrary.LIB.createTokenizerFromString(json);
        } catch (RuntimeException e) {
            throw refused(source, e);
        }
    }

    /** The library's line and column are left out: the text that it read is not the file's to the letter. */
    private static CheckpointException refused(String source, RuntimeException e) {
        String reason = String.valueOf(e.getMessage()).replaceFirst(" at line \\d+ column \\d+$", "");
        return new CheckpointException(source + " is no valid tokenizer: " + Quoted.line(reason), e);
    }

    /**
     * @param text without unpaired surrogates
     * @throws CheckpointException if the library finds only now that the tokenizer is unsound
     */
    synchronized int[] encode(String text) {
        try {
            long encoding = TokenizersLibrary.LIB.encode(handle, text, false);
            try {
                return narrow(TokenizersLibrary.LIB.getTokenIds(encoding));
            } finally {
                TokenizersLibrary.LIB.deleteEncoding(encoding);
            }
        } catch (RuntimeException e) {
            throw refused(source, e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The text of {@code ids[0 .. count)}; ids that are not in the vocabulary have none. */
    synchronized String decode(int[] ids, int count) {
        long[] wide = new long[count];
        for (int i = 0; i < count; i++) {
            wide[i] = ids[i];
        }
        try {
            return TokenizersLibrary.LIB.decode(handle, wide, false);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private static int[] narrow(long[] wide) {
        int[] ids = new int[wide.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = Math.toIntExact(wide[i]);
        }
        return ids;
    }
}
