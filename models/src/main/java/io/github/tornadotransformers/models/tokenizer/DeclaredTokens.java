package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.tokenizer.TokenizerJson.Piece;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The added tokens that files beside {@code tokenizer.json} declare: {@code added_tokens_decoder} of
 * {@code tokenizer_config.json}, or where it is silent {@code added_tokens.json}.
 *
 * @param source what messages call the place
 * @param tokens by their ids
 * @param overrides whether their flags count where {@code tokenizer.json} has the same token
 */
record DeclaredTokens(String source, Map<Integer, AddedToken> tokens, boolean overrides) {
    private static final String DECODER = "added_tokens_decoder";
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * @param special texts of tokens that are special
     * @throws CheckpointException if an entry is not what the format says
     */
    static DeclaredTokens read(Path folder, Optional<ObjectNode> config, Set<String> special) {
        JsonNode decoder = config.map(object -> object.get(DECODER)).orElse(null);
        if (decoder != null && !decoder.isNull()) {
            return ofDecoder(Quoted.path(folder.resolve(TokenizerFiles.CONFIG)) + ": " + DECODER, decoder);
        }
        Path file = folder.resolve(TokenizerFiles.ADDED_TOKENS);
        Map<Integer, AddedToken> tokens = new TreeMap<>();
        TokenizerFiles.readOptional(file)
                .ifPresent(object -> object.properties().forEach(token -> {
                    boolean isSpecial = special.contains(token.getKey());
                    ObjectNode flags = JSON.createObjectNode()
                            .put(AddedToken.SPECIAL, isSpecial)
                            .put(AddedToken.NORMALIZED, !isSpecial);
                    put(
                            tokens,
                            Quoted.path(file),
                            id(Quoted.path(file), token.getKey(), token.getValue()),
                            token.getKey(),
                            flags);
                }));
        return new DeclaredTokens(Quoted.path(file), tokens, false);
    }

    private static DeclaredTokens ofDecoder(String source, JsonNode decoder) {
        if (!(decoder instanceof ObjectNode object)) {
            throw new CheckpointException(
                    source + " is " + Quoted.line(decoder.toString()) + ", expected an object of tokens by their ids");
        }
        Map<Integer, AddedToken> tokens = new TreeMap<>();
        object.properties().forEach(entry -> {
            int id = id(source, entry.getKey());
            if (!(entry.getValue() instanceof ObjectNode token)
                    || !token.path(AddedToken.CONTENT).isTextual()) {
                throw new CheckpointException(
                        source + " has " + Quoted.line(entry.getValue().toString()) + " for id " + id
                                + ", expected an object with the token's content");
            }
            for (String flag : AddedToken.FLAGS) {
                if (token.has(flag) && !token.get(flag).isBoolean()) {
                    throw new CheckpointException(source + ": " + flag + " of id " + id + " is "
                            + Quoted.line(token.get(flag).toString()) + ", expected true or false");
                }
            }
            put(tokens, source, id, token.get(AddedToken.CONTENT).textValue(), token);
        });
        return new DeclaredTokens(source, tokens, true);
    }

    private static int id(String source, String key) {
        try {
            return id(source, key, JSON.getNodeFactory().numberNode(Integer.parseInt(key)));
        } catch (NumberFormatException e) {
            throw new CheckpointException(source + " has the id " + Quoted.text(key) + ", expected a number from 0", e);
        }
    }

    private static int id(String source, String owner, JsonNode id) {
        if (!id.isInt() || id.intValue() < 0) {
            throw new CheckpointException(source + ": the id of " + Quoted.text(owner) + " is "
                    + Quoted.line(id.toString()) + ", expected a number from 0");
        }
        return id.intValue();
    }

    private static void put(Map<Integer, AddedToken> tokens, String source, int id, String content, ObjectNode flags) {
        AddedToken other = tokens.put(id, AddedToken.of(id, content, flags));
        if (other != null) {
            throw new CheckpointException(source + " gives id " + id + " to " + Quoted.text(other.content())
                    + " and to " + Quoted.text(content));
        }
    }

    /**
     * The tokenizer's own added tokens and these. A new one has the next free id, as Hugging Face's loader would give it.
     *
     * @param file what messages call the tokenizer's file
     * @param vocab the model's vocabulary
     * @throws CheckpointException if the places contradict each other
     */
    List<AddedToken> joinedWith(List<AddedToken> own, String file, List<Piece> vocab) {
        if (tokens.isEmpty()) {
            return own;
        }
        Map<String, AddedToken> joined = new LinkedHashMap<>();
        own.forEach(token -> joined.put(token.content(), token));
        Map<String, Integer> known = idsOf(own, vocab, file);
        int next = 1
                + Math.max(
                        vocab.stream().mapToInt(Piece::id).max().orElse(-1),
                        own.stream().mapToInt(AddedToken::id).max().orElse(-1));
        for (AddedToken token : tokens.values()) {
            Integer id = known.get(token.content());
            int expected = id == null ? next++ : id;
            if (token.id() != expected) {
                throw new CheckpointException(source + " gives id " + token.id() + " to " + Quoted.text(token.content())
                        + ", expected " + expected + ", "
                        + (id == null ? "the next that is free" : "as in " + file));
            }
            joined.merge(token.content(), token, (first, second) -> overrides ? first.with(second) : first);
        }
        return new ArrayList<>(joined.values());
    }

    /** Of those declared tokens that the tokenizer's file has too; an id that it gives to another token is refused. */
    private Map<String, Integer> idsOf(List<AddedToken> own, List<Piece> vocab, String file) {
        Map<String, Integer> declared = new LinkedHashMap<>();
        tokens.values().forEach(token -> declared.put(token.content(), token.id()));
        Map<String, Integer> known = new LinkedHashMap<>();
        for (Piece piece : vocab) {
            note(piece.text(), piece.id(), declared, known, file);
        }
        for (AddedToken token : own) {
            note(token.content(), token.id(), declared, known, file);
        }
        return known;
    }

    private void note(String text, int id, Map<String, Integer> declared, Map<String, Integer> known, String file) {
        AddedToken here = tokens.get(id);
        if (here != null && !here.content().equals(text)) {
            throw new CheckpointException(source + " gives id " + id + " to " + Quoted.text(here.content()) + ", which "
                    + file + " gives to " + Quoted.text(text));
        }
        if (declared.containsKey(text)) {
            known.put(text, id);
        }
    }
}
