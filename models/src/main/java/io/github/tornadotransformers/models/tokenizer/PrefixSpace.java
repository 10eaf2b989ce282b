package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code add_prefix_space} of {@code tokenizer_config.json} asks for: whether a text is encoded as if a space stood in
 * front of it. It counts as in Hugging Face's loader, by the class of the tokenizer: GPT-2's sets what its byte-level
 * pre-tokenizer does, Llama's may take the space away, and others leave all to {@code tokenizer.json}. What would be
 * ambiguous is refused. Where special tokens are spelled in a text, Llama's, unless it is {@code legacy}, puts a space in front of the text
 * alone, and of none of the parts between them.
 *
 * @param source what messages call the file
 * @param tokenizerClass empty where the file names none
 * @param wanted empty where the file does not say
 * @param legacy whether each part between special tokens gets a space
 */
record PrefixSpace(String source, String tokenizerClass, Optional<Boolean> wanted, boolean legacy) {
    private static final String FIELD = "add_prefix_space";
    private static final String PREPEND_SCHEME = "prepend_scheme";
    private static final String NEVER = "never";
    private static final String TYPE = "type";
    private static final String BYTE_LEVEL = "ByteLevel";
    private static final String METASPACE = "Metaspace";

    /** @throws CheckpointException if the field is neither true nor false */
    static PrefixSpace read(Path folder, Optional<ObjectNode> config) {
        String source = Quoted.path(folder.resolve(TokenizerFiles.CONFIG));
        JsonNode value = config.map(object -> object.get(FIELD)).orElse(NullNode.instance);
        if (!value.isNull() && !value.isBoolean()) {
            throw new CheckpointException(
                    source + ": " + FIELD + " is " + Quoted.line(value.toString()) + ", expected true or false");
        }
        return new PrefixSpace(
                source,
                config.map(object -> object.path("tokenizer_class").asText()).orElse(""),
                value.isNull() ? Optional.empty() : Optional.of(value.booleanValue()),
                config.map(object -> object.path("legacy").asBoolean()).orElse(false));
    }

    /**
     * The stages to put in place of those in {@code tokenizer.json}, by their names.
     *
     * @param stages normalizer, pre-tokenizer and decoder, those that are there; they are left as they are
     * @throws CheckpointException if {@code tokenizer.json} contradicts the field and it is not clear which counts
     */
    Map<String, JsonNode> changed(Map<String, JsonNode> stages) {
        JsonNode preTokenizer = stages.getOrDefault(Stages.PRE_TOKENIZER, NullNode.instance);
        JsonNode normalizer = stages.getOrDefault(Stages.NORMALIZER, NullNode.instance);
        if (isA(preTokenizer, BYTE_LEVEL) && (isGpt2() || tokenizerClass.isEmpty())) {
            return withByteLevel((ObjectNode) preTokenizer);
        }
        if (isLlama() && wanted.equals(Optional.of(false))) {
            return withoutSpace(stages);
        }
        boolean decides = isGpt2() || isLlama() || isA(preTokenizer, BYTE_LEVEL);
        boolean found = prepends(preTokenizer) || prepends(normalizer);
        if (decides && wanted.isPresent() && wanted.get() != found) {
            throw new CheckpointException(source + ": " + FIELD + " is " + wanted.get() + ", but "
                    + TokenizerFiles.TOKENIZER + " beside it " + (found ? "adds a space" : "adds none")
                    + ": make the two agree");
        }
        return Map.of();
    }

    /** As {@link #changed}, for texts in which special tokens are spelled. */
    Map<String, JsonNode> changedForSpelled(Map<String, JsonNode> stages) {
        Map<String, JsonNode> changed = changed(stages);
        JsonNode normalizer = stages.getOrDefault(Stages.NORMALIZER, NullNode.instance);
        boolean first = changed.isEmpty()
                && isLlama()
                && !legacy
                && prepends(normalizer)
                && stages.getOrDefault(Stages.PRE_TOKENIZER, MissingNode.getInstance())
                        .isNull();
        return first
                ? Map.of(
                        Stages.NORMALIZER,
                        NullNode.instance,
                        Stages.PRE_TOKENIZER,
                        JsonNodeFactory.instance
                                .objectNode()
                                .put(TYPE, METASPACE)
                                .put("replacement", "\u2581")
                                .put(PREPEND_SCHEME, "first")
                                .put("split", false))
                : changed;
    }

    private boolean isGpt2() {
        return tokenizerClass.startsWith("GPT2Tokenizer");
    }

    private boolean isLlama() {
        return tokenizerClass.startsWith("LlamaTokenizer");
    }

    private static boolean isA(JsonNode stage, String type) {
        return stage.path(TYPE).asText().equals(type);
    }

    /** GPT-2's tokenizer adds no space where its config does not say. */
    private Map<String, JsonNode> withByteLevel(ObjectNode preTokenizer) {
        boolean found = prepends(preTokenizer);
        boolean space = wanted.orElse(isGpt2() ? false : found);
        return space == found
                ? Map.of()
                : Map.of(Stages.PRE_TOKENIZER, preTokenizer.deepCopy().put(FIELD, space));
    }

    /** Whether a stage, or a part of it, puts a space in front. */
    private static boolean prepends(JsonNode stage) {
        boolean itself = switch (stage.path(TYPE).asText()) {
            case BYTE_LEVEL -> stage.path(FIELD).asBoolean();
            case METASPACE ->
                !stage.path(PREPEND_SCHEME).asText().equals(NEVER)
                        && stage.path(FIELD).asBoolean(true);
            case Stages.PREPEND -> true;
            default -> false;
        };
        for (JsonNode part : Stages.parts(stage)) {
            itself |= prepends(part);
        }
        return itself;
    }

    /** The decoder takes away what the others put there. */
    private static Map<String, JsonNode> withoutSpace(Map<String, JsonNode> stages) {
        Map<String, JsonNode> changed = new HashMap<>();
        stages.forEach((name, stage) -> changed.put(name, withoutSpace(stage.deepCopy(), name)));
        return changed;
    }

    private static JsonNode withoutSpace(JsonNode stage, String name) {
        String type = stage.path(TYPE).asText();
        if (type.equals(Stages.PREPEND) || (type.equals(Stages.STRIP) && name.equals(Stages.DECODER))) {
            return NullNode.instance;
        }
        if (type.equals(METASPACE)) {
            ((ObjectNode) stage).put(PREPEND_SCHEME, NEVER).remove(FIELD);
        }
        if (type.equals(BYTE_LEVEL)) {
            ((ObjectNode) stage).put(FIELD, false);
        }
        for (Iterator<JsonNode> parts = Stages.parts(stage).iterator(); parts.hasNext(); ) {
            if (withoutSpace(parts.next(), name).isNull()) {
                parts.remove();
            }
        }
        return stage;
    }
}
