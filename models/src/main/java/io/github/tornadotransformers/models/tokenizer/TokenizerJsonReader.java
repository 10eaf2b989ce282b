package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.tokenizer.TokenizerJson.Edit;
import io.github.tornadotransformers.models.tokenizer.TokenizerJson.Piece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One pass over the text of a {@code tokenizer.json}; it remembers where fields stand, so that they can be replaced. */
final class TokenizerJsonReader {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final JsonParser parser;
    private final String json;
    private final String source;
    private final List<Piece> vocab = new ArrayList<>();
    private final List<AddedToken> addedTokens = new ArrayList<>();
    private final List<Edit> switchedOff = new ArrayList<>();
    private String modelType = "BPE";
    private final Map<String, JsonNode> stages = new LinkedHashMap<>();
    private final Map<String, Edit> stageFields = new HashMap<>();
    private int[] front = {};
    private Edit addedTokensField;
    private Edit vocabStart;
    private int objectStart;

    TokenizerJsonReader(String json, JsonParser parser, String source) {
        this.parser = parser;
        this.json = json;
        this.source = source;
    }

    List<Piece> vocab() {
        return vocab;
    }

    List<AddedToken> addedTokens() {
        return addedTokens;
    }

    /** What the post-processor puts in front of a text. */
    int[] front() {
        return front;
    }

    /** Replaces by null what is not left to the library. */
    List<Edit> switchedOff() {
        return switchedOff;
    }

    /** Puts the whole value of {@code added_tokens} into its place, whether the file has the field or not. */
    Edit addedTokens(String value) {
        return addedTokensField == null
                ? new Edit(objectStart, objectStart, "\"added_tokens\":" + value + ",")
                : addedTokensField.with(value);
    }

    /** Normalizer, pre-tokenizer and decoder, those that are there. */
    Map<String, JsonNode> stages() {
        return stages;
    }

    /** Puts another stage into the place of one that is there. */
    Edit stage(String name, JsonNode value) {
        return stageFields.get(name).with(value.toString());
    }

    /** The empty place before the first entry of the vocabulary. */
    Edit vocabStart() {
        return vocabStart;
    }

    void read() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new CheckpointException(source + " is not a JSON object");
        }
        objectStart = offsetAfterToken();
        for (String field = parser.nextFieldName(); field != null; field = parser.nextFieldName()) {
            parser.nextToken();
            switch (field) {
                case "added_tokens" -> readAddedTokens();
                case "truncation", "padding" -> switchOff();
                case "post_processor" -> readPostProcessor();
                case "model" -> readModel();
                case Stages.NORMALIZER, Stages.PRE_TOKENIZER, Stages.DECODER -> readStage(field);
                default -> parser.skipChildren();
            }
        }
        requireComplete();
    }

    private void requireComplete() {
        if (!modelType.equals("BPE")) {
            throw new CheckpointException(source + ": model.type is " + Quoted.text(modelType)
                    + ", expected \"BPE\", the kind that GPT-2 and Llama use");
        }
        if (vocabStart == null) {
            throw new CheckpointException(source + " has no model.vocab");
        }
    }

    private void readStage(String name) throws IOException {
        int start = tokenOffset();
        JsonNode stage = readTree();
        new Stages(source).check(name, stage);
        stages.put(name, stage);
        stageFields.put(name, new Edit(start, offsetAfterToken(), ""));
    }

    private void readModel() throws IOException {
        require(JsonToken.START_OBJECT, "model", "an object");
        for (String field = parser.nextFieldName(); field != null; field = parser.nextFieldName()) {
            parser.nextToken();
            switch (field) {
                case "type" -> modelType = parser.getText();
                case "dropout" -> switchOff();
                case "vocab" -> readVocab();
                case "continuing_subword_prefix" -> requireNone(field);
                default -> parser.skipChildren();
            }
        }
    }

    /** The library ends the process where a merge's second piece is shorter than what it takes off. */
    private void requireNone(String field) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_NULL
                && !(parser.currentToken() == JsonToken.VALUE_STRING
                        && parser.getText().isEmpty())) {
            throw new CheckpointException(source + ": model." + field + " is " + Quoted.text(parser.getText())
                    + ", which is not implemented");
        }
    }

    /** Other kinds of models have arrays here. */
    private void readVocab() throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        int start = offsetAfterToken();
        vocabStart = new Edit(start, start, "");
        for (String text = parser.nextFieldName(); text != null; text = parser.nextFieldName()) {
            parser.nextToken();
            vocab.add(new Piece(text, id(text)));
        }
    }

    private void readAddedTokens() throws IOException {
        int start = tokenOffset();
        if (parser.currentToken() != JsonToken.VALUE_NULL) {
            require(JsonToken.START_ARRAY, "added_tokens", "an array");
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                readAddedToken();
            }
        }
        addedTokensField = new Edit(start, offsetAfterToken(), "");
    }

    private void readAddedToken() throws IOException {
        require(JsonToken.START_OBJECT, "added_tokens", "objects");
        int start = tokenOffset();
        int id = -1;
        String content = null;
        boolean special = false;
        for (String field = parser.nextFieldName(); field != null; field = parser.nextFieldName()) {
            JsonToken value = parser.nextToken();
            switch (field) {
                case AddedToken.ID -> id = id("added_tokens");
                case AddedToken.CONTENT -> content = parser.getText();
                case AddedToken.SPECIAL -> special = value == JsonToken.VALUE_TRUE;
                default -> parser.skipChildren();
            }
        }
        if (id < 0 || content == null) {
            throw new CheckpointException(source + ": an entry of added_tokens has no id or no content");
        }
        addedTokens.add(new AddedToken(id, content, special, json.substring(start, offsetAfterToken())));
    }

    private int id(String owner) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                || parser.getNumberType() != JsonParser.NumberType.INT
                || parser.getIntValue() < 0) {
            throw new CheckpointException(source + ": the id of " + Quoted.text(owner) + " is "
                    + Quoted.line(parser.getText()) + ", expected a number from 0");
        }
        return parser.getIntValue();
    }

    private void readPostProcessor() throws IOException {
        front = new PostProcessor(source).front(switchOff());
    }

    private JsonNode readTree() throws IOException {
        int start = tokenOffset();
        parser.skipChildren();
        return MAPPER.readTree(json.substring(start, offsetAfterToken()));
    }

    /** The value that stood there. */
    private JsonNode switchOff() throws IOException {
        int start = tokenOffset();
        JsonNode value = readTree();
        switchedOff.add(new Edit(start, offsetAfterToken(), "null"));
        return value;
    }

    private void require(JsonToken expected, String field, String words) throws IOException {
        if (parser.currentToken() != expected) {
            throw new CheckpointException(
                    source + ": " + field + " holds " + Quoted.text(parser.getText()) + ", expected " + words);
        }
    }

    private int tokenOffset() {
        return (int) parser.currentTokenLocation().getCharOffset();
    }

    /** The parser reads strings lazily: the end is known once the token is read to its end. */
    private int offsetAfterToken() throws IOException {
        parser.finishToken();
        return (int) parser.currentLocation().getCharOffset();
    }
}
