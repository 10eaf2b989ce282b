package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Normalizers, pre-tokenizers and decoders of every kind that the library knows, with likely and unlikely values. */
final class RandomStages {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Map<String, List<String>> KINDS = Map.of(
            "normalizer",
            List.of(
                    "Sequence",
                    "NFC",
                    "NFD",
                    "NFKC",
                    "NFKD",
                    "Lowercase",
                    "Prepend",
                    "Replace",
                    "Strip",
                    "StripAccents",
                    "ByteLevel",
                    "Nmt",
                    "BertNormalizer",
                    "Precompiled"),
            "pre_tokenizer",
            List.of(
                    "Sequence",
                    "ByteLevel",
                    "Digits",
                    "Metaspace",
                    "Punctuation",
                    "Split",
                    "Whitespace",
                    "WhitespaceSplit",
                    "CharDelimiterSplit",
                    "UnicodeScripts",
                    "BertPreTokenizer",
                    "FixedLength"),
            "decoder",
            List.of(
                    "Sequence",
                    "ByteFallback",
                    "ByteLevel",
                    "Fuse",
                    "Metaspace",
                    "Replace",
                    "Strip",
                    "BPEDecoder",
                    "WordPiece",
                    "CTC"));
    /** How many kinds at the ends of these lists are refused by name. */
    private static final Map<String, Integer> REFUSED = Map.of("normalizer", 4, "pre_tokenizer", 4, "decoder", 3);

    private static final Map<String, String> PARTS =
            Map.of("normalizer", "normalizers", "pre_tokenizer", "pretokenizers", "decoder", "decoders");
    private static final String[] TEXTS = {"", " ", "▁", "a", "ab", "Ġ", "é", "🦙", "</w>", "<s>"};
    private static final String[] LETTERS = {" ", "▁", "a", "h", "w"};
    private static final String[] PATTERNS = {
        "a", "\\s+", "a*", "(?i:'s)|\\p{L}+| ?[^\\s]+", "\\p{N}{1,3}", "(", "^", "$"
    };
    private static final String[] BEHAVIORS = {
        "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"
    };
    private static final String[] SCHEMES = {"always", "first", "never"};

    private final SplittableRandom random;

    RandomStages(SplittableRandom random) {
        this.random = random;
    }

    /** @param field that the stage is for */
    JsonNode stage(String field) {
        return stage(field, 0);
    }

    private JsonNode stage(String field, int depth) {
        List<String> kinds = KINDS.get(field);
        int known = random.nextInt(8) == 0 ? kinds.size() : kinds.size() - REFUSED.get(field);
        String kind = kinds.get(random.nextInt(known));
        ObjectNode stage = JSON.createObjectNode().put("type", kind);
        switch (kind) {
            case "Sequence" -> {
                ArrayNode parts = stage.putArray(PARTS.get(field));
                for (int i = random.nextInt(4); i > 0 && depth < 3; i--) {
                    parts.add(stage(field, depth + 1));
                }
            }
            case "Replace" -> pattern(stage).put("content", any(TEXTS));
            case "Split" -> pattern(stage).put("behavior", any(BEHAVIORS)).put("invert", random.nextBoolean());
            case "Punctuation" -> stage.put("behavior", any(BEHAVIORS));
            case "Prepend" -> stage.put("prepend", any(TEXTS));
            case "Digits" -> stage.put("individual_digits", random.nextBoolean());
            case "ByteLevel" ->
                stage.put("add_prefix_space", random.nextBoolean())
                        .put("trim_offsets", random.nextBoolean())
                        .put("use_regex", random.nextBoolean());
            case "Metaspace" ->
                stage.put("replacement", any(TEXTS))
                        .put("prepend_scheme", any(SCHEMES))
                        .put("split", random.nextBoolean());
            case "Strip" -> strip(field, stage);
            case "CharDelimiterSplit" -> stage.put("delimiter", any(TEXTS));
            case "FixedLength" -> stage.put("length", random.nextInt(3));
            case "BPEDecoder" -> stage.put("suffix", any(TEXTS));
            case "WordPiece" -> stage.put("prefix", any(TEXTS)).put("cleanup", random.nextBoolean());
            default -> {}
        }
        return stage;
    }

    private void strip(String field, ObjectNode stage) {
        if (field.equals("decoder")) {
            stage.put("content", any(LETTERS))
                    .put("start", random.nextInt(3))
                    .put("stop", random.nextInt(4) == 0 ? random.nextInt(3) : 0);
        } else {
            stage.put("strip_left", random.nextBoolean()).put("strip_right", random.nextBoolean());
        }
    }

    private ObjectNode pattern(ObjectNode stage) {
        boolean regex = random.nextBoolean();
        stage.putObject("pattern").put(regex ? "Regex" : "String", regex ? any(PATTERNS) : any(TEXTS));
        return stage;
    }

    private String any(String[] values) {
        return values[random.nextInt(values.length)];
    }
}
