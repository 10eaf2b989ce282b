package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.gguf.GgufMetadata;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Writes the vocabulary of a GGUF file as the {@code tokenizer.json} that means the same: byte-level pair encoding, which cuts a text
 * as {@code tokenizer.ggml.pre} says, or SentencePiece's, whose merges follow from the scores.
 */
final class GgufTokenizer {
    private static final String BYTE_LEVEL_BPE = "gpt2";
    private static final String SENTENCE_PIECE = "llama";
    private static final String SPACE = "\u2581";
    private static final String TYPE = "type";
    private static final String CONTENT = "content";
    private static final String PATTERN = "pattern";

    private static final double UNKNOWN = 2;
    private static final double CONTROL = 3;
    private static final double USER_DEFINED = 4;

    private static final JsonMapper MAPPER = new JsonMapper();

    private final GgufMetadata metadata;
    private final String model;
    private final List<String> tokens;
    private final List<Double> types;
    private final ObjectNode json = MAPPER.createObjectNode();

    private GgufTokenizer(GgufMetadata metadata) {
        this.metadata = metadata;
        model = metadata.requireText(GgufTokens.MODEL);
        tokens = metadata.texts(GgufTokens.TOKENS).orElseThrow(() -> metadata.missing(GgufTokens.TOKENS));
        types = metadata.numbers(GgufTokens.TYPES).orElse(List.of());
        if (!types.isEmpty() && types.size() != tokens.size()) {
            throw metadata.rejected(GgufTokens.TYPES, "as many as there are tokens, " + tokens.size());
        }
    }

    /** @throws io.github.tornadotransformers.models.CheckpointException if a key is wrong, or asks for what is not implemented */
    static String toTokenizerJson(GgufMetadata metadata) {
        return new GgufTokenizer(metadata).write();
    }

    private String write() {
        json.putNull("truncation").putNull("padding");
        addedTokens();
        switch (model) {
            case BYTE_LEVEL_BPE -> byteLevel();
            case SENTENCE_PIECE -> sentencePiece();
            default -> throw metadata.notImplemented(GgufTokens.MODEL, BYTE_LEVEL_BPE + ", " + SENTENCE_PIECE);
        }
        return json.toString();
    }

    /** What the keys say of special tokens. */
    static SpecialTokens special(GgufMetadata metadata) {
        GgufTokenizer tokenizer = new GgufTokenizer(metadata);
        Set<String> all = new HashSet<>();
        for (int id = 0; id < tokenizer.tokens.size(); id++) {
            if (tokenizer.isSpecial(id)) {
                all.add(tokenizer.tokens.get(id));
            }
        }
        Optional<String> bos = tokenizer.token(GgufTokens.BOS);
        Optional<String> eos = tokenizer.token(GgufTokens.EOS);
        bos.ifPresent(all::add);
        eos.ifPresent(all::add);
        boolean addsBos = metadata.flag(GgufTokens.ADDS_BOS).orElseGet(tokenizer::usuallyAddsBos);
        return new SpecialTokens(
                bos, eos, Set.copyOf(all), SpecialTokens.named(bos, eos), Optional.of(addsBos && bos.isPresent()));
    }

    private boolean usuallyAddsBos() {
        return model.equals(SENTENCE_PIECE) || GgufPreTokenizer.of(metadata).addsBos();
    }

    private Optional<String> token(String key) {
        OptionalInt id = metadata.tokenId(key);
        if (id.isPresent() && id.getAsInt() >= tokens.size()) {
            throw metadata.rejected(key, "an id below " + tokens.size() + ", the number of tokens");
        }
        return id.isPresent() ? Optional.of(tokens.get(id.getAsInt())) : Optional.empty();
    }

    private boolean isSpecial(int id) {
        return isOfType(id, CONTROL) || isOfType(id, UNKNOWN);
    }

    private boolean isOfType(int id, double type) {
        return id < types.size() && types.get(id) == type;
    }

    private void addedTokens() {
        ArrayNode added = json.putArray("added_tokens");
        for (int id = 0; id < tokens.size(); id++) {
            if (isSpecial(id) || isOfType(id, USER_DEFINED) && !piece(id).isEmpty() && !isRunOfSpaces(id)) {
                added.addObject()
                        .put("id", id)
                        .put(CONTENT, tokens.get(id))
                        .put("single_word", false)
                        .put("lstrip", false)
                        .put("rstrip", false)
                        .put("normalized", false)
                        .put("special", isSpecial(id));
            }
        }
    }

    /** SentencePiece's user-defined tokens have spaces, where its pieces have what stands for them. */
    private boolean isRunOfSpaces(int id) {
        return model.equals(SENTENCE_PIECE)
                && tokens.get(id).isBlank()
                && tokens.get(id).contains(" ");
    }

    private String piece(int id) {
        return isOfType(id, USER_DEFINED) && isRunOfSpaces(id) ? tokens.get(id).replace(" ", SPACE) : tokens.get(id);
    }

    private ObjectNode model() {
        ObjectNode bpe = json.putObject("model").put(TYPE, "BPE").putNull("dropout");
        ObjectNode vocab = bpe.putObject("vocab");
        for (int id = 0; id < tokens.size(); id++) {
            vocab.put(piece(id), id);
        }
        return bpe;
    }

    private void byteLevel() {
        GgufPreTokenizer pre = GgufPreTokenizer.of(metadata);
        json.set("normalizer", pre.isNormalized() ? MAPPER.createObjectNode().put(TYPE, "NFC") : NullNode.instance);
        json.set("pre_tokenizer", pre.json());
        json.putNull("post_processor");
        json.set("decoder", byteLevel(true));
        ObjectNode bpe = model().putNull("unk_token").put("ignore_merges", pre.ignoresMerges());
        ArrayNode merges = bpe.putArray("merges");
        for (String merge : metadata.texts(GgufTokens.MERGES).orElseThrow(() -> metadata.missing(GgufTokens.MERGES))) {
            int space = merge.indexOf(' ', 1);
            if (space < 0 || space == merge.length() - 1) {
                throw metadata.rejected(GgufTokens.MERGES, "two pieces with a space between in each");
            }
            merges.add(merge);
        }
    }

    static ObjectNode byteLevel(boolean usesRegex) {
        return MAPPER.createObjectNode()
                .put(TYPE, "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", usesRegex);
    }

    private void sentencePiece() {
        if (metadata.flag("tokenizer.ggml.remove_extra_whitespaces").orElse(false)) {
            throw metadata.notImplemented("tokenizer.ggml.remove_extra_whitespaces", "false");
        }
        if (metadata.has("tokenizer.ggml.precompiled_charsmap")) {
            throw metadata.notImplemented("tokenizer.ggml.precompiled_charsmap", "none");
        }
        boolean addsSpace = metadata.flag(GgufTokens.ADDS_SPACE).orElse(true);
        ArrayNode normalizers =
                json.putObject("normalizer").put(TYPE, "Sequence").putArray("normalizers");
        ArrayNode decoders = MAPPER.createArrayNode();
        if (addsSpace) {
            normalizers.addObject().put(TYPE, Stages.PREPEND).put("prepend", SPACE);
        }
        normalizers.add(replacing(" ", SPACE));
        decoders.add(replacing(SPACE, " "));
        decoders.addObject().put(TYPE, "ByteFallback");
        decoders.addObject().put(TYPE, "Fuse");
        if (addsSpace) {
            decoders.addObject()
                    .put(TYPE, Stages.STRIP)
                    .put(CONTENT, " ")
                    .put("start", 1)
                    .put("stop", 0);
        }
        json.putNull("pre_tokenizer").putNull("post_processor");
        json.putObject("decoder").put(TYPE, "Sequence").set("decoders", decoders);
        ObjectNode bpe = model();
        Optional<String> unknown = token(GgufTokens.UNKNOWN);
        unknown.ifPresentOrElse(text -> bpe.put("unk_token", text), () -> bpe.putNull("unk_token"));
        bpe.put("fuse_unk", true).put("byte_fallback", true);
        ArrayNode merges = bpe.putArray("merges");
        merges().forEach(merge -> merges.addArray().add(merge.left).add(merge.right));
    }

    private static ObjectNode replacing(String text, String other) {
        ObjectNode replace = MAPPER.createObjectNode().put(TYPE, "Replace");
        replace.putObject(PATTERN).put("String", text);
        return replace.put(CONTENT, other);
    }

    /** Two pieces that make a third. */
    private record Merge(String left, String right, double score, int leftId, int rightId) {}

    /** The merges that lead to each piece, better scores first; those of the same piece, or score, by their parts' ids. */
    private List<Merge> merges() {
        List<Double> scores =
                metadata.numbers(GgufTokens.SCORES).orElseThrow(() -> metadata.missing(GgufTokens.SCORES));
        if (scores.size() != tokens.size()) {
            throw metadata.rejected(GgufTokens.SCORES, "as many as there are tokens, " + tokens.size());
        }
        Map<String, Integer> ids = new HashMap<>();
        for (int id = 0; id < tokens.size(); id++) {
            ids.put(piece(id), id);
        }
        List<Merge> merges = new ArrayList<>();
        for (int id = 0; id < tokens.size(); id++) {
            String piece = piece(id);
            List<Merge> ofPiece = new ArrayList<>();
            for (int at = 1; at < piece.length(); at++) {
                String left = piece.substring(0, at);
                String right = piece.substring(at);
                if (ids.containsKey(left) && ids.containsKey(right)) {
                    ofPiece.add(new Merge(left, right, scores.get(id), ids.get(left), ids.get(right)));
                }
            }
            ofPiece.sort(Comparator.comparingInt(Merge::leftId).thenComparingInt(Merge::rightId));
            merges.addAll(ofPiece);
        }
        merges.sort(Comparator.comparingDouble(Merge::score).reversed());
        return merges;
    }
}
