package io.github.tornadotransformers.training.tokenizer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * A byte-level byte-pair encoding, and its files in Hugging Face's form.
 *
 * @param pieces by id: the bytes, the merges, the end token
 * @param merges in the order in which they apply
 */
public record BytePairEncoding(List<String> pieces, List<Merge> merges) {
    /** Separates texts; GPT-2's spelling. */
    public static final String END_OF_TEXT = "<|endoftext|>";

    private static final String BYTE_LEVEL = "ByteLevel";
    private static final String TYPE = "type";

    /** Two neighbouring pieces that become one. */
    public record Merge(String left, String right) {}

    public BytePairEncoding {
        pieces = List.copyOf(pieces);
        merges = List.copyOf(merges);
    }

    /** {@code tokenizer.json}. */
    public ObjectNode toTokenizerJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("version", "1.0").putNull("truncation").putNull("padding");
        json.putArray("added_tokens")
                .addObject()
                .put("id", pieces.size() - 1)
                .put("content", END_OF_TEXT)
                .put("single_word", false)
                .put("lstrip", false)
                .put("rstrip", false)
                .put("normalized", false)
                .put("special", true);
        json.putNull("normalizer");
        json.set("pre_tokenizer", byteLevel());
        json.set("post_processor", byteLevel());
        json.set("decoder", byteLevel());
        json.set("model", model());
        return json;
    }

    private static ObjectNode byteLevel() {
        return JsonNodeFactory.instance
                .objectNode()
                .put(TYPE, BYTE_LEVEL)
                .put("add_prefix_space", false)
                .put("trim_offsets", false)
                .put("use_regex", true);
    }

    private ObjectNode model() {
        ObjectNode model = JsonNodeFactory.instance.objectNode();
        model.put(TYPE, "BPE").putNull("dropout").putNull("unk_token");
        model.put("continuing_subword_prefix", "").put("end_of_word_suffix", "");
        model.put("fuse_unk", false).put("byte_fallback", false);
        ObjectNode vocab = model.putObject("vocab");
        for (int id = 0; id < pieces.size(); id++) {
            vocab.put(pieces.get(id), id);
        }
        ArrayNode list = model.putArray("merges");
        for (Merge merge : merges) {
            list.add(merge.left() + " " + merge.right());
        }
        return model;
    }

    /** {@code tokenizer_config.json}. */
    public static ObjectNode toTokenizerConfigJson() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("tokenizer_class", "PreTrainedTokenizerFast")
                .put("bos_token", END_OF_TEXT)
                .put("eos_token", END_OF_TEXT)
                .put("clean_up_tokenization_spaces", false);
    }
}
