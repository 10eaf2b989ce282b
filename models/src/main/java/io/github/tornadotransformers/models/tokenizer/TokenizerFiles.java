package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.CheckpointFiles;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The files that a tokenizer is made of. */
final class TokenizerFiles {
    static final String TOKENIZER = "tokenizer.json";
    static final String VOCAB = "vocab.json";
    static final String MERGES = "merges.txt";
    static final String CONFIG = "tokenizer_config.json";
    static final String SPECIAL_TOKENS = "special_tokens_map.json";
    static final String ADDED_TOKENS = "added_tokens.json";

    /** All that there may be; a tokenizer has some of them. */
    static final List<String> ALL = List.of(TOKENIZER, VOCAB, MERGES, CONFIG, SPECIAL_TOKENS, ADDED_TOKENS);

    /** A vocabulary's names are met once each: interning them would only cost time. */
    static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    /** Many times what the largest known tokenizer has. */
    private static final long MAX_BYTES = 1L << 28;

    private TokenizerFiles() {}

    /** @throws CheckpointException if the file is missing, unreadable, too large, a Git LFS pointer or not UTF-8 */
    static String readText(Path file) {
        CheckpointFiles.requireContents(file);
        try {
            long bytes = Files.size(file);
            if (bytes > MAX_BYTES) {
                throw new CheckpointException(
                        Quoted.path(file) + " has " + bytes + " bytes, expected at most " + MAX_BYTES);
            }
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new CheckpointException(Quoted.path(file) + " is not UTF-8 text", e);
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }

    /**
     * The object in a file that need not be there.
     *
     * @throws CheckpointException if it is there and broken
     */
    static Optional<ObjectNode> readOptional(Path file) {
        return Files.exists(file) ? Optional.of(CheckpointFiles.readJson(file)) : Optional.empty();
    }
}
