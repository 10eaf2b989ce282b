package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.gguf.GgufArchitecture;
import io.github.tornadotransformers.models.gguf.GgufMetadata;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import java.util.Optional;

/** How a text is cut into words before they are encoded, by the names that {@code tokenizer.ggml.pre} has. */
enum GgufPreTokenizer {
    GPT2(Optional.empty(), false),
    LLAMA3(Optional.of(Patterns.CONTRACTIONS + "|" + Patterns.WORDS + "|\\p{N}{1,3}|" + Patterns.OTHERS), false),
    GPT4(Optional.of(Patterns.CONTRACTIONS + "|" + Patterns.WORDS + "|\\p{N}{1,3}|" + Patterns.OTHERS), false),
    QWEN2(Optional.of(Patterns.CONTRACTIONS + "|" + Patterns.WORDS + "|\\p{N}|" + Patterns.OTHERS), false),
    GPT4O(
            Optional.of(Patterns.CASED + Patterns.CONTRACTIONS + "?|" + Patterns.CASED_UPPER + Patterns.CONTRACTIONS
                    + "?|\\p{N}{1,3}|" + Patterns.OTHERS_SLASH),
            false),
    TEKKEN(Optional.of(Patterns.CASED + "|" + Patterns.CASED_UPPER + "|\\p{N}|" + Patterns.OTHERS_SLASH), false),
    DIGITS(Optional.empty(), true);

    private final Optional<String> pattern;
    private final boolean cutsDigits;

    GgufPreTokenizer(Optional<String> pattern, boolean cutsDigits) {
        this.pattern = pattern;
        this.cutsDigits = cutsDigits;
    }

    static GgufPreTokenizer of(GgufMetadata metadata) {
        boolean isGpt2 = metadata.requireText(GgufArchitecture.KEY).equals("gpt2");
        String name = metadata.text(GgufTokens.PRE).orElse(isGpt2 ? "gpt-2" : "");
        return switch (name) {
            case "gpt-2", "gpt2", "phi-2", "jina-es", "jina-de" -> GPT2;
            case "llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral" -> LLAMA3;
            case "dbrx", "smaug-bpe", "gpt-4" -> GPT4;
            case "qwen2", "deepseek-r1-qwen", "megrez" -> QWEN2;
            case "gpt-4o", "llama4" -> GPT4O;
            case "tekken" -> TEKKEN;
            case "smollm", "starcoder", "refact", "command-r", "codeshell" -> DIGITS;
            case "" -> throw metadata.missing(GgufTokens.PRE);
            default ->
                throw metadata.notImplemented(
                        GgufTokens.PRE,
                        "gpt-2, llama-bpe, qwen2, dbrx, smaug-bpe, gpt-4o, tekken, smollm, starcoder, refact");
        };
    }

    /**
     * The name for how a tokenizer cuts a text.
     *
     * @param tokenizer a {@code tokenizer.json}
     * @throws InvalidRequest if there is none
     */
    static String name(JsonNode tokenizer) {
        JsonNode preTokenizer = tokenizer.path("pre_tokenizer");
        boolean ignoresMerges = tokenizer.path("model").path("ignore_merges").asBoolean();
        boolean isNormalized =
                tokenizer.path("normalizer").path("type").asText().equals("NFC");
        for (GgufPreTokenizer each : values()) {
            if (each.isLike(preTokenizer)
                    && each.isNormalized() == isNormalized
                    && each.ignoresMerges() == ignoresMerges) {
                return switch (each) {
                    case GPT2 -> "gpt-2";
                    case LLAMA3 -> "llama-bpe";
                    case GPT4 -> "dbrx";
                    case QWEN2 -> "qwen2";
                    case GPT4O -> "gpt-4o";
                    case TEKKEN -> "tekken";
                    case DIGITS -> "smollm";
                };
            }
        }
        throw new InvalidRequest("GGUF has no name for the pre-tokenizer " + Quoted.line(preTokenizer.toString()));
    }

    /** Whether a pre-tokenizer cuts as this does; where its tokens begin and end in the text does not matter. */
    private boolean isLike(JsonNode preTokenizer) {
        return withoutOffsets(preTokenizer).equals(withoutOffsets(json()));
    }

    private static JsonNode withoutOffsets(JsonNode stage) {
        JsonNode copy = stage.deepCopy();
        if (copy instanceof ObjectNode object) {
            object.remove("trim_offsets");
        }
        copy.path("pretokenizers").forEach(part -> ((ObjectNode) part).remove("trim_offsets"));
        return copy;
    }

    boolean isNormalized() {
        return this == QWEN2;
    }

    boolean ignoresMerges() {
        return this == LLAMA3 || this == TEKKEN;
    }

    boolean addsBos() {
        return this == LLAMA3 || this == TEKKEN;
    }

    ObjectNode json() {
        if (pattern.isEmpty() && !cutsDigits) {
            return GgufTokenizer.byteLevel(true);
        }
        ObjectNode sequence = JsonNodeFactory.instance.objectNode().put("type", "Sequence");
        ArrayNode parts = sequence.putArray("pretokenizers");
        if (cutsDigits) {
            parts.addObject().put("type", "Digits").put("individual_digits", true);
        }
        pattern.ifPresent(regex -> {
            ObjectNode split = parts.addObject().put("type", "Split");
            split.putObject("pattern").put("Regex", regex);
            split.put("behavior", "Isolated").put("invert", false);
        });
        parts.add(GgufTokenizer.byteLevel(cutsDigits));
        return sequence;
    }

    /** Regular expressions, as the tokenizers that these names come from have them. */
    private static final class Patterns {
        private static final String CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
        private static final String WORDS = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+";
        private static final String SPACES = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
        private static final String OTHERS = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" + SPACES;
        private static final String OTHERS_SLASH = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" + SPACES;
        private static final String UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
        private static final String LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
        private static final String CASED = "[^\\r\\n\\p{L}\\p{N}]?" + UPPER + "*" + LOWER + "+";
        private static final String CASED_UPPER = "[^\\r\\n\\p{L}\\p{N}]?" + UPPER + "+" + LOWER + "*";

        private Patterns() {}
    }
}
