package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.gguf.GgufFile;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import io.github.tornadotransformers.models.gguf.GgufValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/** Writes a checkpoint's tokenizer as the keys of a GGUF file. */
public final class GgufVocabulary {
    private static final double NORMAL = 1;
    private static final double UNKNOWN = 2;
    private static final double CONTROL = 3;
    private static final double USER_DEFINED = 4;
    private static final double UNUSED = 5;
    private static final double BYTE = 6;

    private final JsonNode json;
    private final List<String> tokens;
    private final List<Double> types;
    private final SequencedMap<String, GgufValue> keys = new LinkedHashMap<>();

    private GgufVocabulary(JsonNode json, int vocabSize) {
        this.json = json;
        tokens = new ArrayList<>();
        for (int id = 0; id < vocabSize; id++) {
            tokens.add("[PAD" + id + "]");
        }
        types = new ArrayList<>(Collections.nCopies(vocabSize, UNUSED));
    }

    /**
     * The keys of the tokenizer of a folder, or those that a GGUF file has; none where there is no tokenizer.
     *
     * @param vocabSize ids of the model; those without a piece get one that is not used
     * @throws CheckpointException if the tokenizer is broken
     * @throws InvalidRequest if GGUF has no name for the way in which it cuts a text
     */
    public static SequencedMap<String, GgufValue> of(Path path, int vocabSize) {
        if (GgufFile.isGguf(path)) {
            return GgufFile.open(path).metadata().startingWith("tokenizer.");
        }
        if (!Tokenizer.existsIn(path)) {
            return new LinkedHashMap<>();
        }
        Tokenizer tokenizer = Tokenizer.load(path);
        if (tokenizer.maxId() >= vocabSize) {
            throw new InvalidRequest(
                    "the tokenizer has ids up to " + tokenizer.maxId() + ", but the model " + vocabSize);
        }
        GgufVocabulary vocabulary = new GgufVocabulary(json(path), vocabSize);
        vocabulary.write(tokenizer, TokenizerConfig.read(path).special());
        vocabulary.writeTemplate(path);
        return vocabulary.keys;
    }

    private static JsonNode json(Path folder) {
        Path file = folder.resolve(TokenizerFiles.TOKENIZER);
        String text = Files.exists(file) ? TokenizerFiles.readText(file) : Gpt2Files.toTokenizerJson(folder);
        try {
            return new JsonMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw new CheckpointException(file + " is not valid JSON", e);
        }
    }

    private void write(Tokenizer tokenizer, SpecialTokens special) {
        JsonNode model = json.path("model");
        boolean isSentencePiece = model.path("byte_fallback").asBoolean();
        model.path("vocab").properties().forEach(piece -> put(piece.getValue().asInt(), piece.getKey(), NORMAL));
        json.path("added_tokens")
                .forEach(token -> put(
                        token.path(AddedToken.ID).asInt(),
                        token.path(AddedToken.CONTENT).asText(),
                        USER_DEFINED));
        for (int id = 0; id < tokens.size(); id++) {
            if (tokenizer.isSpecial(id)) {
                types.set(id, CONTROL);
            } else if (isSentencePiece && tokens.get(id).matches("<0x[0-9A-F]{2}>")) {
                types.set(id, BYTE);
            }
        }
        keys.put(GgufTokens.MODEL, new GgufValue.Text(isSentencePiece ? "llama" : "gpt2"));
        keys.put(GgufTokens.PRE, new GgufValue.Text(isSentencePiece ? "default" : GgufPreTokenizer.name(json)));
        unknown(model, tokenizer);
        keys.put(GgufTokens.TOKENS, new GgufValue.Texts(tokens));
        keys.put(GgufTokens.TYPES, new GgufValue.Numbers(types, true));
        if (isSentencePiece) {
            keys.put(GgufTokens.SCORES, new GgufValue.Numbers(scores(tokenizer, merges(model)), false));
            keys.put(
                    GgufTokens.ADDS_SPACE,
                    new GgufValue.Flag(json.path("normalizer").toString().contains(Stages.PREPEND)));
        } else {
            keys.put(
                    GgufTokens.MERGES,
                    new GgufValue.Texts(merges(model).stream()
                            .map(merge -> String.join(" ", merge))
                            .toList()));
        }
        int[] front = tokenizer.encodePrompt("");
        put(GgufTokens.BOS, special.bos(), tokenizer);
        put(GgufTokens.EOS, special.eos(), tokenizer);
        if (front.length > 0) {
            keys.put(GgufTokens.BOS, new GgufValue.Whole(front[front.length - 1]));
        }
        keys.put(GgufTokens.ADDS_BOS, new GgufValue.Flag(front.length > 0));
    }

    private void put(int id, String text, double type) {
        tokens.set(id, text);
        types.set(id, type);
    }

    private void unknown(JsonNode model, Tokenizer tokenizer) {
        tokenizer.id(model.path("unk_token").asText("")).ifPresent(id -> {
            types.set(id, UNKNOWN);
            keys.put(GgufTokens.UNKNOWN, new GgufValue.Whole(id));
        });
    }

    private void put(String key, Optional<String> token, Tokenizer tokenizer) {
        token.ifPresent(text -> tokenizer.id(text).ifPresent(id -> keys.put(key, new GgufValue.Whole(id))));
    }

    /** Texts of pairs, or arrays of two. */
    private static List<List<String>> merges(JsonNode model) {
        List<List<String>> merges = new ArrayList<>();
        for (JsonNode merge : model.path("merges")) {
            String text = merge.asText();
            int space = text.indexOf(' ', 1);
            merges.add(
                    merge.isArray()
                            ? List.of(merge.path(0).asText(), merge.path(1).asText())
                            : List.of(text.substring(0, space), text.substring(space + 1)));
        }
        return merges;
    }

    /** The earlier a merge, the better the score of what it makes. */
    private List<Double> scores(Tokenizer tokenizer, List<List<String>> merges) {
        List<Double> scores = new ArrayList<>(Collections.nCopies(tokens.size(), -1.0 - merges.size()));
        for (int rank = merges.size() - 1; rank >= 0; rank--) {
            double score = -rank;
            tokenizer.id(String.join("", merges.get(rank))).ifPresent(id -> scores.set(id, score));
        }
        return scores;
    }

    private void writeTemplate(Path folder) {
        StoredChatTemplate.find(folder).ifPresent(template -> {
            keys.put(GgufTokens.CHAT_TEMPLATE, new GgufValue.Text(template.text()));
            template.forTools().ifPresent(text -> keys.put(GgufTokens.TOOLS_TEMPLATE, new GgufValue.Text(text)));
        });
    }
}
