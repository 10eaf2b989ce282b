package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.util.Map;
import java.util.Set;

/**
 * Checks the normalizer, the pre-tokenizer and the decoder of a {@code tokenizer.json} before Hugging Face's library sees
 * them: it ends the process where it meets what it takes for impossible. Kinds that byte-pair tokenizers have no use for are
 * refused by name.
 */
final class Stages {
    static final String NORMALIZER = "normalizer";
    static final String PRE_TOKENIZER = "pre_tokenizer";
    static final String DECODER = "decoder";

    static final String PREPEND = "Prepend";
    static final String STRIP = "Strip";

    /** The kind that holds others, and the field in which it does. */
    private static final String SEQUENCE = "Sequence";

    private static final Map<String, String> PARTS =
            Map.of(NORMALIZER, "normalizers", PRE_TOKENIZER, "pretokenizers", DECODER, "decoders");

    private static final Map<String, Set<String>> KINDS = Map.of(
            NORMALIZER,
            Set.of("NFC", "NFD", "NFKC", "NFKD", "Lowercase", PREPEND, "Replace", STRIP, "StripAccents"),
            PRE_TOKENIZER,
            Set.of("ByteLevel", "Digits", "Metaspace", "Punctuation", "Split", "Whitespace", "WhitespaceSplit"),
            DECODER,
            Set.of("ByteFallback", "ByteLevel", "Fuse", "Metaspace", "Replace", STRIP));

    private static final int MAX_DEPTH = 32;

    private final String source;

    /** @param source what messages call the file */
    Stages(String source) {
        this.source = source;
    }

    /** @throws CheckpointException if the library would refuse the stage, or worse */
    void check(String field, JsonNode stage) {
        requireReadable(field, stage, 0);
        if (!stage.isNull()) {
            checkKind(field, stage);
        }
    }

    private void checkKind(String field, JsonNode stage) {
        String kind = stage.path("type").asText();
        switch (kind) {
            case SEQUENCE -> stage.path(PARTS.get(field)).forEach(part -> checkKind(field, part));
            case PREPEND -> requireText(field + ".prepend", stage.path("prepend"));
            case "Replace", "Split" -> checkPattern(field, stage.path("pattern"));
            case STRIP -> checkStrip(field, stage);
            default -> {}
        }
        if (!kind.equals(SEQUENCE) && !KINDS.get(field).contains(kind)) {
            throw new CheckpointException(
                    source + ": " + field + ".type is " + Quoted.text(kind) + ", which is not implemented");
        }
    }

    /** A decoder that takes more characters off the end of a piece than there are ends the process. */
    private void checkStrip(String field, JsonNode stage) {
        JsonNode stop = stage.path("stop");
        if (field.equals(DECODER) && stop.asLong() != 0) {
            throw new CheckpointException(source + ": decoder.stop is " + Quoted.line(stop.toString())
                    + ", expected 0: to take characters off the end of a piece is not implemented");
        }
    }

    /** The stages that a stage is made of; none unless it is a sequence. */
    static JsonNode parts(JsonNode stage) {
        if (stage.path("type").asText().equals(SEQUENCE)) {
            for (String field : PARTS.values()) {
                if (stage.has(field)) {
                    return stage.get(field);
                }
            }
        }
        return MissingNode.getInstance();
    }

    /** A normalizer's expression that matches nothing, somewhere, ends the process; whether one does is hard to tell. */
    private void checkPattern(String field, JsonNode pattern) {
        if (field.equals(NORMALIZER) && pattern.has("Regex")) {
            throw new CheckpointException(source + ": normalizer.pattern is the regular expression "
                    + Quoted.text(pattern.path("Regex").asText()) + ", which is not implemented");
        }
        requireText(field + ".pattern", pattern.has("Regex") ? pattern.path("Regex") : pattern.path("String"));
    }

    private void requireText(String field, JsonNode text) {
        if (text.asText().isEmpty()) {
            throw new CheckpointException(source + ": " + field + " is empty, expected a text");
        }
    }

    /** JSON allows what the library's reader does not: halves of surrogate pairs, numbers without limit, any depth. */
    private void requireReadable(String field, JsonNode node, int depth) {
        boolean readable = depth <= MAX_DEPTH
                && (!node.isTextual() || isWellFormed(node.textValue()))
                && !node.isBigInteger()
                && (!node.isDouble() || Double.isFinite(node.doubleValue()));
        if (!readable) {
            throw new CheckpointException(
                    source + ": the tokenizer library cannot read " + Quoted.line(node.toString()) + " in " + field);
        }
        node.forEach(child -> requireReadable(field, child, depth + 1));
    }

    private static boolean isWellFormed(String text) {
        return text.codePoints().noneMatch(each -> Character.getType(each) == Character.SURROGATE);
    }
}
