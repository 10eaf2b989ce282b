package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes GPT-2's {@code vocab.json} and {@code merges.txt} as the {@code tokenizer.json} that means the same: byte-level pair
 * encoding with GPT-2's way of cutting a text into words, and nothing added in front.
 */
final class Gpt2Files {
    static final String END_OF_TEXT = "<|endoftext|>";

    private static final String BYTE_LEVEL =
            "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true}";

    private Gpt2Files() {}

    /** @throws TokenizerException naming the file that is missing or broken */
    static String toTokenizerJson(Path folder) {
        Path vocabFile = folder.resolve(TokenizerFiles.VOCAB);
        JsonNode vocab = TokenizerFiles.readObject(vocabFile)
                .orElseThrow(() -> new TokenizerException(vocabFile + " does not exist"));
        return "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":["
                + String.join(",", addedTokens(folder, vocab))
                + "],\"normalizer\":null,\"pre_tokenizer\":" + BYTE_LEVEL
                + ",\"post_processor\":null,\"decoder\":" + BYTE_LEVEL
                + ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"vocab\":" + vocab
                + ",\"merges\":[" + String.join(",", merges(folder.resolve(TokenizerFiles.MERGES))) + "]}}";
    }

    static String quoted(String text) {
        return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
    }

    /** Pairs of pieces, as JSON strings. A line that is empty, or the first and names the version, says nothing. */
    private static List<String> merges(Path file) {
        List<String> merges = new ArrayList<>();
        String[] lines = TokenizerFiles.read(file).split("\r?\n", -1);
        for (int line = 0; line < lines.length; line++) {
            if (lines[line].isEmpty() || (line == 0 && lines[line].startsWith("#version"))) {
                continue;
            }
            int space = lines[line].indexOf(' ');
            if (space <= 0 || space == lines[line].length() - 1 || lines[line].indexOf(' ', space + 1) >= 0) {
                throw new TokenizerException(file + ", line " + (line + 1) + ", is \"" + lines[line]
                        + "\", expected two pieces with a space between");
            }
            merges.add(quoted(lines[line]));
        }
        return merges;
    }

    /** Special ones of the vocabulary, and what {@code added_tokens.json} adds to it. */
    private static List<String> addedTokens(Path folder, JsonNode vocab) {
        SpecialTokens names = SpecialTokens.read(folder);
        Set<String> special = names.all();
        Map<String, JsonNode> ids = new LinkedHashMap<>();
        for (String text : special) {
            Optional.ofNullable(vocab.get(text)).ifPresent(id -> ids.put(text, id));
        }
        Optional<JsonNode> added = TokenizerFiles.readObject(folder.resolve(TokenizerFiles.ADDED_TOKENS));
        added.ifPresent(object -> object.properties().forEach(entry -> ids.put(entry.getKey(), entry.getValue())));
        List<String> tokens = new ArrayList<>();
        ids.forEach((text, id) -> tokens.add("{\"id\":" + id + ",\"content\":" + quoted(text)
                + ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":"
                + special.contains(text) + "}"));
        return tokens;
    }
}
