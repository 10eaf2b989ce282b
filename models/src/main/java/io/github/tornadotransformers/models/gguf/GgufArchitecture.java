package io.github.tornadotransformers.models.gguf;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The architectures of GGUF files that are implemented: which family each is, what its tensors are called in Hugging Face's
 * checkpoints, and in what they differ from those.
 *
 * <p>Source: the tables of github.com/ggml-org/llama.cpp/tree/master/gguf-py, and its {@code convert_hf_to_gguf.py}.
 */
public enum GgufArchitecture {
    /** Llama and what has its shape: Mistral, SmolLM2, TinyLlama. */
    LLAMA("llama", "llama", Difference.INTERLEAVED),
    QWEN2("qwen2", "qwen2", Difference.NONE),
    QWEN3("qwen3", "qwen3", Difference.NONE),
    GEMMA2("gemma2", "gemma2", Difference.SHIFTED),
    GEMMA3("gemma3", "gemma3_text", Difference.SHIFTED),
    PHI3("phi3", "phi3", Difference.NONE),
    GRANITE("granite", "granite", Difference.INTERLEAVED),
    OLMO2("olmo2", "olmo2", Difference.NONE),
    SMOLLM3("smollm3", "smollm3", Difference.INTERLEAVED),
    GPT2("gpt2", "gpt2", Difference.TURNED);

    /** The key that says which it is. */
    public static final String KEY = "general.architecture";

    /** In what tensors differ from Hugging Face's. */
    private enum Difference {
        NONE,

        /** The rows of q and k: pairs that are rotated lie side by side. */
        INTERLEAVED,

        /** Norm weights: 1 has been added. */
        SHIFTED,

        /** Linear weights have been transposed. */
        TURNED
    }

    private static final Pattern BLOCK = Pattern.compile("blk\\.(\\d{1,9})\\.(.+)\\.(weight|bias)");
    private static final Pattern OTHER = Pattern.compile("(.+)\\.(weight|bias)");

    /** The names of GPT-2's tensors below a block's prefix, by Hugging Face's. */
    private static final Map<String, String> GPT2_BLOCK = Map.of(
            "ln_1", "attn_norm",
            "attn.c_attn", "attn_qkv",
            "attn.c_proj", "attn_output",
            "ln_2", "ffn_norm",
            "mlp.c_fc", "ffn_up",
            "mlp.c_proj", "ffn_down");

    private static final Map<String, String> GPT2_OTHERS =
            Map.of("wte", "token_embd", "wpe", "position_embd", "ln_f", "output_norm", "lm_head", "output");

    private static final Map<String, String> OTHERS =
            Map.of("embed_tokens", "token_embd", "norm", "output_norm", "lm_head", "output");

    private final String ggufName;
    private final String modelType;
    private final Difference difference;

    GgufArchitecture(String ggufName, String modelType, Difference difference) {
        this.ggufName = ggufName;
        this.modelType = modelType;
        this.difference = difference;
    }

    /** @throws io.github.tornadotransformers.models.CheckpointException if it is missing or not implemented */
    static GgufArchitecture of(GgufMetadata metadata) {
        String name = metadata.requireText(KEY);
        return Arrays.stream(values())
                .filter(each -> each.ggufName.equals(name))
                .findFirst()
                .orElseThrow(() -> metadata.notImplemented(
                        KEY, Arrays.stream(values()).map(each -> each.ggufName).collect(Collectors.joining(", "))));
    }

    /** The one of a model type of Hugging Face's; none where there is none. */
    public static Optional<GgufArchitecture> ofModelType(String modelType) {
        return Arrays.stream(values())
                .filter(each -> each.modelType.equals(modelType))
                .findFirst();
    }

    /** The value of {@link #KEY}; keys of the architecture begin with it. */
    String ggufName() {
        return ggufName;
    }

    /** Hugging Face's {@code model_type}. */
    public String modelType() {
        return modelType;
    }

    private Map<String, String> others() {
        return this == GPT2 ? GPT2_OTHERS : OTHERS;
    }

    private Map<String, String> block() {
        if (this == GPT2) {
            return GPT2_BLOCK;
        }
        Map<String, String> names = new LinkedHashMap<>();
        for (String each : new String[] {"q", "k", "v"}) {
            names.put("self_attn." + each + "_proj", "attn_" + each);
            names.put("self_attn." + each + "_norm", "attn_" + each + "_norm");
        }
        names.put("self_attn.o_proj", "attn_output");
        names.put("self_attn.qkv_proj", "attn_qkv");
        names.put("mlp.gate_proj", "ffn_gate");
        names.put("mlp.up_proj", "ffn_up");
        names.put("mlp.down_proj", "ffn_down");
        names.put("input_layernorm", "attn_norm");
        if (this == PHI3) {
            names.remove("mlp.up_proj");
            names.put("mlp.gate_up_proj", "ffn_up");
        }
        if (this == GEMMA2 || this == GEMMA3 || this == OLMO2) {
            names.put("post_attention_layernorm", "post_attention_norm");
            names.put("pre_feedforward_layernorm", "ffn_norm");
            names.put("post_feedforward_layernorm", "post_ffw_norm");
        } else {
            names.put("post_attention_layernorm", "ffn_norm");
        }
        return names;
    }

    /** A tensor's name in Hugging Face's checkpoints, without the model's prefix; its own where those have no such tensor. */
    String huggingFaceName(String name) {
        Matcher inBlock = BLOCK.matcher(name);
        if (inBlock.matches()) {
            return nameOf(block(), inBlock.group(2))
                    .map(found -> prefix() + inBlock.group(1) + "." + found + "." + inBlock.group(3))
                    .orElse(name);
        }
        Matcher other = OTHER.matcher(name);
        return other.matches()
                ? nameOf(others(), other.group(1))
                        .map(found -> found + "." + other.group(2))
                        .orElse(name)
                : name;
    }

    private static Optional<String> nameOf(Map<String, String> names, String value) {
        return names.entrySet().stream()
                .filter(entry -> entry.getValue().equals(value))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** The reverse of {@link #huggingFaceName}. */
    public String tensorName(String huggingFaceName) {
        int dot = huggingFaceName.lastIndexOf('.');
        String ending = huggingFaceName.substring(dot + 1);
        String name = huggingFaceName.substring(0, Math.max(0, dot));
        if (name.startsWith(prefix())) {
            String[] layerAndName = name.substring(prefix().length()).split("\\.", 2);
            return layerAndName.length == 2 && block().containsKey(layerAndName[1])
                    ? "blk." + layerAndName[0] + "." + block().get(layerAndName[1]) + "." + ending
                    : huggingFaceName;
        }
        return others().containsKey(name) ? others().get(name) + "." + ending : huggingFaceName;
    }

    private String prefix() {
        return this == GPT2 ? "h." : "layers.";
    }

    /** Whether the rows of a tensor's heads lie as pairs that are rotated together, where Hugging Face's are halves. */
    public boolean interleaves(String huggingFaceName) {
        return difference == Difference.INTERLEAVED
                && (huggingFaceName.contains(".q_proj.") || huggingFaceName.contains(".k_proj."));
    }

    /** Whether a tensor has 1 more than Hugging Face's. */
    public boolean isShifted(String huggingFaceName) {
        return difference == Difference.SHIFTED && huggingFaceName.endsWith("norm.weight");
    }

    /** Whether a tensor is the transposed one of Hugging Face's. */
    public boolean isTurned(String huggingFaceName) {
        return difference == Difference.TURNED
                && huggingFaceName.contains(".c_")
                && huggingFaceName.endsWith(".weight");
    }
}
