package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the text files of a tokenizer's folder; what is wrong with one is said in a line that names it. */
final class TokenizerFiles {
    static final String TOKENIZER = "tokenizer.json";
    static final String VOCAB = "vocab.json";
    static final String MERGES = "merges.txt";
    static final String CONFIG = "tokenizer_config.json";
    static final String SPECIAL_TOKENS = "special_tokens_map.json";
    static final String ADDED_TOKENS = "added_tokens.json";

    /** A vocabulary's names are met once each: interning them would only cost time. */
    static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    private static final JsonMapper MAPPER = new JsonMapper(JSON);
    private static final long MAX_BYTES = 1L << 28;
    private static final String LFS_POINTER = "version https://git-lfs.github.com/spec/v1";

    private TokenizerFiles() {}

    /** @throws TokenizerException if the file is missing, unreadable, too large, a Git LFS pointer or not UTF-8 */
    static String read(Path file) {
        try {
            long bytes = Files.size(file);
            if (bytes > MAX_BYTES) {
                throw new TokenizerException(
                        file + " has " + bytes + " bytes, expected at most " + MAX_BYTES + " in a tokenizer's file");
            }
            String text = Files.readString(file);
            if (text.startsWith(LFS_POINTER)) {
                throw new TokenizerException(file + " is a Git LFS pointer, not the file: run `git lfs pull` in its"
                        + " repository, or download the file itself");
            }
            return text;
        } catch (CharacterCodingException e) {
            throw new TokenizerException(file + " is not UTF-8 text", e);
        } catch (NoSuchFileException e) {
            throw new TokenizerException(file + " does not exist", e);
        } catch (IOException e) {
            throw new TokenizerException(file + " cannot be read: " + e.getMessage(), e);
        }
    }

    /** The object in a small JSON file, empty where there is no such file. */
    static Optional<JsonNode> readObject(Path file) {
        if (Files.notExists(file)) {
            return Optional.empty();
        }
        try {
            JsonNode node = MAPPER.readTree(read(file));
            if (node == null || !node.isObject()) {
                throw new TokenizerException(file + " is not a JSON object");
            }
            return Optional.of(node);
        } catch (JsonProcessingException e) {
            throw notJson(file.toString(), e);
        }
    }

    static TokenizerException notJson(String source, JsonProcessingException e) {
        String reason = e.getOriginalMessage().lines().findFirst().orElse("");
        return new TokenizerException(
                source + " is not JSON at line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + ": " + reason,
                e);
    }
}
