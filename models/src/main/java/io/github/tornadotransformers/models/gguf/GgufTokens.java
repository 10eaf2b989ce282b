package io.github.tornadotransformers.models.gguf;

import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/** The keys of a GGUF file that speak of its tokens. */
public final class GgufTokens {
    public static final String MODEL = "tokenizer.ggml.model";
    public static final String PRE = "tokenizer.ggml.pre";
    public static final String TOKENS = "tokenizer.ggml.tokens";
    public static final String TYPES = "tokenizer.ggml.token_type";
    public static final String SCORES = "tokenizer.ggml.scores";
    public static final String MERGES = "tokenizer.ggml.merges";
    public static final String BOS = "tokenizer.ggml.bos_token_id";
    public static final String EOS = "tokenizer.ggml.eos_token_id";
    public static final String UNKNOWN = "tokenizer.ggml.unknown_token_id";
    public static final String PADDING = "tokenizer.ggml.padding_token_id";
    public static final String ADDS_BOS = "tokenizer.ggml.add_bos_token";
    public static final String ADDS_EOS = "tokenizer.ggml.add_eos_token";
    public static final String ADDS_SPACE = "tokenizer.ggml.add_space_prefix";
    public static final String CHAT_TEMPLATE = "tokenizer.chat_template";
    public static final String TOOLS_TEMPLATE = CHAT_TEMPLATE + ".tool_use";

    private static final List<String> ENDS = List.of(EOS, "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id");

    /** Special tokens that end a turn, whether a key says so or not. */
    private static final Set<String> END_TEXTS =
            Set.of("<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>");

    private static final double CONTROL = 3;

    private GgufTokens() {}

    /** The ids that end a text: those that keys name, and the special tokens that are known to end a turn. */
    public static List<Integer> endTokens(GgufMetadata metadata) {
        Set<Integer> ids = new TreeSet<>();
        for (String key : ENDS) {
            OptionalInt id = metadata.tokenId(key);
            id.ifPresent(ids::add);
        }
        List<String> tokens = metadata.texts(TOKENS).orElse(List.of());
        List<Double> types = metadata.numbers(TYPES).orElse(List.of());
        for (int id = 0; id < Math.min(tokens.size(), types.size()); id++) {
            if (types.get(id) == CONTROL && END_TEXTS.contains(tokens.get(id))) {
                ids.add(id);
            }
        }
        return List.copyOf(ids);
    }
}
