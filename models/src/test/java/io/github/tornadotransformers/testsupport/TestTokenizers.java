package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files of two small tokenizers, written by our own code: one in GPT-2's manner, which cuts words into bytes, and one in
 * Llama 2's, which falls back to bytes for characters that it does not know.
 */
public final class TestTokenizers {
    public static final String END_OF_TEXT = "<|endoftext|>";
    /** Ids of {@link #byteLevel}: a byte's is its value, then what merges make, then the end token. */
    public static final int BYTE_LEVEL_VOCAB_SIZE = 256 + 9 + 1;
    /** Ids of {@link #byteFallback}: 3 special tokens, 256 bytes, 28 characters, then what merges make. */
    public static final int BYTE_FALLBACK_VOCAB_SIZE = 3 + 256 + 28 + 8;

    private static final JsonMapper JSON = new JsonMapper();
    /** The llama is F0 9F A6 99: its first three bytes are one piece, so that a piece ends within a character. */
    private static final List<List<String>> BYTE_LEVEL_MERGES = List.of(
            List.of("h", "e"),
            List.of("l", "l"),
            List.of("he", "ll"),
            List.of("hell", "o"),
            List.of("Ġ", "w"),
            List.of("o", "r"),
            List.of("Ġw", "or"),
            List.of("ð", "Ł"),
            List.of("ðŁ", "¦"));

    private static final List<List<String>> BYTE_FALLBACK_MERGES = List.of(
            List.of("h", "e"),
            List.of("l", "l"),
            List.of("he", "ll"),
            List.of("hell", "o"),
            List.of("▁", "hello"),
            List.of("▁", "w"),
            List.of("o", "r"),
            List.of("▁w", "or"));

    private TestTokenizers() {}

    /** Writes {@code tokenizer.json} of the byte-level one; merges are pairs in arrays. */
    public static Path byteLevel(Path folder) {
        return write(folder.resolve("tokenizer.json"), byteLevelJson()).getParent();
    }

    /** Writes the same tokenizer as {@code vocab.json} and {@code merges.txt}. */
    public static Path byteLevelAsVocabAndMerges(Path folder) {
        write(folder.resolve("vocab.json"), JSON.valueToTree(byteLevelVocab()));
        StringBuilder merges = new StringBuilder("#version: 0.2\n");
        BYTE_LEVEL_MERGES.forEach(pair -> merges.append(String.join(" ", pair)).append('\n'));
        return write(folder.resolve("merges.txt"), merges.toString()).getParent();
    }

    /** Writes {@code tokenizer.json} of the one with byte fallback, which puts {@code <s>} in front; merges are strings. */
    public static Path byteFallback(Path folder) {
        return write(folder.resolve("tokenizer.json"), byteFallbackJson()).getParent();
    }

    public static ObjectNode byteLevelJson() {
        ObjectNode json = skeleton();
        json.withArray("added_tokens").add(special(byteLevelVocab().get(END_OF_TEXT), END_OF_TEXT));
        ObjectNode byteLevel = JSON.createObjectNode()
                .put("type", "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", true);
        json.set("pre_tokenizer", byteLevel);
        json.set("decoder", byteLevel.deepCopy());
        ObjectNode model = json.putObject("model").put("type", "BPE").putNull("dropout");
        model.set("vocab", JSON.valueToTree(byteLevelVocab()));
        ArrayNode merges = model.putArray("merges");
        BYTE_LEVEL_MERGES.forEach(pair -> merges.add(JSON.valueToTree(pair)));
        return json;
    }

    public static ObjectNode byteFallbackJson() {
        ObjectNode json = skeleton();
        List<String> specials = List.of("<unk>", "<s>", "</s>");
        specials.forEach(each -> json.withArray("added_tokens").add(special(specials.indexOf(each), each)));
        ArrayNode normalizers =
                json.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
        normalizers.addObject().put("type", "Prepend").put("prepend", "▁");
        replace(normalizers.addObject(), " ", "▁");
        ObjectNode template = json.putObject("post_processor").put("type", "TemplateProcessing");
        template.putArray("single")
                .add(templatePart("SpecialToken", "<s>"))
                .add(templatePart("Sequence", "A"))
                .add(templatePart("SpecialToken", "</s>"));
        template.putArray("pair").add(templatePart("Sequence", "A")).add(templatePart("Sequence", "B"));
        ObjectNode templateTokens = template.putObject("special_tokens");
        for (String token : List.of("<s>", "</s>")) {
            ObjectNode entry = templateTokens.putObject(token).put("id", token);
            entry.putArray("ids").add(specials.indexOf(token));
            entry.putArray("tokens").add(token);
        }
        ArrayNode decoders = json.putObject("decoder").put("type", "Sequence").putArray("decoders");
        replace(decoders.addObject(), "▁", " ");
        decoders.addObject().put("type", "ByteFallback");
        decoders.addObject().put("type", "Fuse");
        decoders.addObject()
                .put("type", "Strip")
                .put("content", " ")
                .put("start", 1)
                .put("stop", 0);
        ObjectNode model = json.putObject("model")
                .put("type", "BPE")
                .put("dropout", 0.5)
                .put("unk_token", "<unk>")
                .put("fuse_unk", true)
                .put("byte_fallback", true);
        model.set("vocab", JSON.valueToTree(byteFallbackVocab(specials)));
        ArrayNode merges = model.putArray("merges");
        BYTE_FALLBACK_MERGES.forEach(pair -> merges.add(String.join(" ", pair)));
        return json;
    }

    private static ObjectNode skeleton() {
        ObjectNode json = JSON.createObjectNode().put("version", "1.0");
        json.putObject("truncation")
                .put("direction", "Right")
                .put("max_length", 2)
                .put("strategy", "LongestFirst")
                .put("stride", 0);
        json.putNull("padding").putArray("added_tokens");
        json.putNull("normalizer")
                .putNull("pre_tokenizer")
                .putNull("post_processor")
                .putNull("decoder");
        return json;
    }

    private static ObjectNode special(int id, String content) {
        return JSON.createObjectNode()
                .put("id", id)
                .put("content", content)
                .put("single_word", false)
                .put("lstrip", false)
                .put("rstrip", false)
                .put("normalized", false)
                .put("special", true);
    }

    private static void replace(ObjectNode node, String from, String to) {
        node.put("type", "Replace").put("content", to).putObject("pattern").put("String", from);
    }

    private static ObjectNode templatePart(String kind, String id) {
        ObjectNode part = JSON.createObjectNode();
        part.putObject(kind).put("id", id).put("type_id", 0);
        return part;
    }

    private static Map<String, Integer> byteLevelVocab() {
        Map<String, Integer> vocab = new LinkedHashMap<>();
        for (int b = 0; b < 256; b++) {
            vocab.put(visible(b), vocab.size());
        }
        BYTE_LEVEL_MERGES.forEach(pair -> vocab.put(String.join("", pair), vocab.size()));
        vocab.put(END_OF_TEXT, vocab.size());
        return vocab;
    }

    private static Map<String, Integer> byteFallbackVocab(List<String> specials) {
        Map<String, Integer> vocab = new LinkedHashMap<>();
        specials.forEach(each -> vocab.put(each, vocab.size()));
        for (int b = 0; b < 256; b++) {
            vocab.put(String.format("<0x%02X>", b), vocab.size());
        }
        vocab.put("▁", vocab.size());
        vocab.put("é", vocab.size());
        for (char letter = 'a'; letter <= 'z'; letter++) {
            vocab.put(String.valueOf(letter), vocab.size());
        }
        BYTE_FALLBACK_MERGES.forEach(pair -> vocab.put(String.join("", pair), vocab.size()));
        return vocab;
    }

    /** GPT-2 writes a byte that prints as its Latin-1 character, and the others, in order, as characters from U+0100. */
    private static String visible(int b) {
        if (prints(b)) {
            return String.valueOf((char) b);
        }
        int others = 0;
        for (int before = 0; before < b; before++) {
            others += prints(before) ? 0 : 1;
        }
        return String.valueOf((char) (0x100 + others));
    }

    private static boolean prints(int b) {
        return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    }

    private static Path write(Path file, ObjectNode json) {
        return write(file, json.toPrettyString());
    }

    private static Path write(Path file, Object json) {
        try {
            return Files.write(file, json.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
