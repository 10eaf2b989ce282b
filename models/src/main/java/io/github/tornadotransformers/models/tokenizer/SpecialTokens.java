package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What {@code tokenizer_config.json}, and where it is silent {@code special_tokens_map.json}, say of special tokens.
 *
 * @param bos the text of the start token
 * @param eos the text of the end token
 * @param all texts of all that are named, these two included
 * @param named texts of those that have a name of their own, by it
 * @param addsBos whether a prompt begins with the start token; empty: {@code tokenizer.json} decides
 */
record SpecialTokens(
        Optional<String> bos,
        Optional<String> eos,
        Set<String> all,
        Map<String, String> named,
        Optional<Boolean> addsBos) {
    private static final String BOS = "bos_token";
    private static final String EOS = "eos_token";

    /** As in {@code bos_token}, and in those that a model names for itself, such as {@code image_token}. */
    private static final String SINGLE_TOKEN = "_token";

    private static final List<String> TOKEN_LISTS = List.of("additional_special_tokens", "extra_special_tokens");

    /**
     * @param config what {@code tokenizer_config.json} holds
     * @throws CheckpointException if the other file is broken; a missing one says nothing
     */
    static SpecialTokens read(Path folder, Optional<ObjectNode> config) {
        Optional<ObjectNode> map = TokenizerFiles.readOptional(folder.resolve(TokenizerFiles.SPECIAL_TOKENS));
        Optional<String> bos = text(config, BOS).or(() -> text(map, BOS));
        Optional<String> eos = text(config, EOS).or(() -> text(map, EOS));
        if (Files.notExists(folder.resolve(TokenizerFiles.TOKENIZER))) {
            bos = bos.or(() -> Optional.of(Gpt2Files.END_OF_TEXT));
            eos = eos.or(() -> Optional.of(Gpt2Files.END_OF_TEXT));
        }
        Set<String> all = new HashSet<>();
        bos.ifPresent(all::add);
        eos.ifPresent(all::add);
        Map<String, String> named = new TreeMap<>();
        map.ifPresent(object -> addNamed(object, named));
        config.ifPresent(object -> addNamed(object, named));
        named.putAll(named(bos, eos));
        config.ifPresent(object -> addAll(object, all));
        map.ifPresent(object -> addAll(object, all));
        return new SpecialTokens(bos, eos, Set.copyOf(all), Map.copyOf(named), config.flatMap(SpecialTokens::addsBos));
    }

    /** The two that every file has a place for, by their names. */
    static Map<String, String> named(Optional<String> bos, Optional<String> eos) {
        Map<String, String> named = new TreeMap<>();
        bos.ifPresent(text -> named.put(BOS, text));
        eos.ifPresent(text -> named.put(EOS, text));
        return named;
    }

    private static void addNamed(ObjectNode file, Map<String, String> named) {
        file.properties().stream()
                .filter(field -> field.getKey().endsWith(SINGLE_TOKEN))
                .forEach(field -> text(field.getValue()).ifPresent(text -> named.put(field.getKey(), text)));
    }

    private static void addAll(ObjectNode file, Set<String> all) {
        file.properties().stream()
                .filter(field -> field.getKey().endsWith(SINGLE_TOKEN))
                .forEach(field -> text(field.getValue()).ifPresent(all::add));
        for (String list : TOKEN_LISTS) {
            file.path(list).forEach(token -> text(token).ifPresent(all::add));
        }
    }

    /** A Llama tokenizer adds its start token unless its config says otherwise. */
    private static Optional<Boolean> addsBos(JsonNode config) {
        JsonNode said = config.get("add_bos_token");
        if (said != null && said.isBoolean()) {
            return Optional.of(said.booleanValue());
        }
        String tokenizerClass = config.path("tokenizer_class").asText("");
        return tokenizerClass.startsWith("LlamaTokenizer") ? Optional.of(true) : Optional.empty();
    }

    private static Optional<String> text(Optional<ObjectNode> object, String field) {
        return object.map(each -> each.get(field)).flatMap(SpecialTokens::text);
    }

    /** A token is its text, or an object whose {@code content} is. */
    private static Optional<String> text(JsonNode token) {
        JsonNode text = token.isObject() ? token.path("content") : token;
        return text.isTextual() && !text.textValue().isEmpty() ? Optional.of(text.textValue()) : Optional.empty();
    }
}
