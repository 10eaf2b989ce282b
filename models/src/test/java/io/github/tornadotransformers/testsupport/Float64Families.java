package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.function.Function;

/** What each family after Llama does otherwise; the papers, and Hugging Face's classes of the same names. */
final class Float64Families {
    private Float64Families() {}

    static Float64Llama of(JsonNode config, Function<String, double[]> tensors, int contextLength) {
        return switch (config.get("model_type").textValue()) {
            case "llama" -> new Float64Llama(config, tensors, contextLength);
            case "mistral" -> new Mistral(config, tensors, contextLength);
            case "qwen2" -> new Qwen2(config, tensors, contextLength);
            case "qwen3" -> new Qwen3(config, tensors, contextLength);
            case "phi3" -> new Phi3(config, tensors, contextLength);
            case "granite" -> new Granite(config, tensors, contextLength);
            case "olmo2" -> new Olmo2(config, tensors, contextLength);
            case "smollm3" -> new SmolLm3(config, tensors, contextLength);
            case "gemma2" -> new Gemma2(config, tensors, contextLength);
            case "gemma3_text" -> new Gemma3(config, tensors, contextLength);
            default -> throw new IllegalArgumentException("no float64 model of " + config.get("model_type"));
        };
    }

    /** arXiv:2310.06825: a window in every layer. */
    private static final class Mistral extends Float64Llama {
        Mistral(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        int window(int layer) {
            return windowWhere(layer, true);
        }
    }

    /** arXiv:2407.10671: queries, keys and values have biases; later layers may have a window. */
    private static class Qwen2 extends Float64Llama {
        Qwen2(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        boolean hasAttentionBias() {
            return true;
        }

        @Override
        boolean hasOutputBias() {
            return false;
        }

        @Override
        int window(int layer) {
            return config.path("use_sliding_window").asBoolean()
                    ? windowWhere(
                            layer, layer >= config.path("max_window_layers").asInt(28))
                    : Float64Attention.EVERYTHING;
        }
    }

    /** arXiv:2505.09388: an RMSNorm of every query and key head. */
    private static final class Qwen3 extends Qwen2 {
        Qwen3(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        boolean hasAttentionBias() {
            return config.path("attention_bias").asBoolean();
        }

        @Override
        boolean hasOutputBias() {
            return hasAttentionBias();
        }

        @Override
        double[][] queries(String prefix, double[][] x) {
            return norm(prefix + "q_norm", super.queries(prefix, x));
        }

        @Override
        double[][] keys(String prefix, double[][] x) {
            return norm(prefix + "k_norm", super.keys(prefix, x));
        }
    }

    /** arXiv:2404.14219: queries, keys and values in one tensor, gate and up in another. */
    private static final class Phi3 extends Float64Llama {
        Phi3(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        double[][] queries(String prefix, double[][] x) {
            return Float64Rows.columns(linear(prefix + "qkv_proj", x, false), 0, heads * headDim);
        }

        @Override
        double[][] keys(String prefix, double[][] x) {
            return Float64Rows.columns(linear(prefix + "qkv_proj", x, false), heads * headDim, kvHeads * headDim);
        }

        @Override
        double[][] values(String prefix, double[][] x) {
            int first = (heads + kvHeads) * headDim;
            return Float64Rows.columns(linear(prefix + "qkv_proj", x, false), first, kvHeads * headDim);
        }

        @Override
        double[][] gate(String prefix, double[][] x) {
            int width = config.get("intermediate_size").intValue();
            return Float64Rows.columns(linear(prefix + "gate_up_proj", x, false), 0, width);
        }

        @Override
        double[][] up(String prefix, double[][] x) {
            int width = config.get("intermediate_size").intValue();
            return Float64Rows.columns(linear(prefix + "gate_up_proj", x, false), width, width);
        }

        @Override
        int window(int layer) {
            return windowWhere(layer, true);
        }
    }

    /** Granite 3.0's report: multipliers of embeddings, scores, branches and logits. */
    private static final class Granite extends Float64Llama {
        Granite(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        private double multiplier(String field) {
            return config.path(field).asDouble(1);
        }

        @Override
        double embeddingScale() {
            return multiplier("embedding_multiplier");
        }

        @Override
        double scoreScale() {
            return multiplier("attention_multiplier");
        }

        @Override
        double logit(double x) {
            return x / multiplier("logits_scaling");
        }

        @Override
        double[][] attentionBranch(int layer, String block, double[][] x) {
            return multiplied(super.attentionBranch(layer, block, x));
        }

        @Override
        double[][] mlpBranch(String block, double[][] x) {
            return multiplied(super.mlpBranch(block, x));
        }

        private double[][] multiplied(double[][] branch) {
            Float64Rows.replaceEach(branch, value -> value * multiplier("residual_multiplier"));
            return branch;
        }
    }

    /** arXiv:2501.00656: norms behind the branches, and of all queries and all keys. */
    private static final class Olmo2 extends Float64Llama {
        Olmo2(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        double[][] attentionBranch(int layer, String block, double[][] x) {
            return norm(block + "post_attention_layernorm", attention(layer, block + "self_attn.", x));
        }

        @Override
        double[][] mlpBranch(String block, double[][] x) {
            return norm(block + "post_feedforward_layernorm", mlp(block + "mlp.", x));
        }

        @Override
        double[][] queries(String prefix, double[][] x) {
            return norm(prefix + "q_norm", super.queries(prefix, x));
        }

        @Override
        double[][] keys(String prefix, double[][] x) {
            return norm(prefix + "k_norm", super.keys(prefix, x));
        }
    }

    /** arXiv:2501.18795: layers without positions. */
    private static final class SmolLm3 extends Float64Llama {
        SmolLm3(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        boolean rotates(int layer) {
            return config.hasNonNull("no_rope_layers")
                    ? config.get("no_rope_layers").get(layer).intValue() == 1
                    : (layer + 1) % config.path("no_rope_layer_interval").asInt(4) != 0;
        }

        @Override
        int window(int layer) {
            return config.path("use_sliding_window").asBoolean()
                    ? windowWhere(layer, !rotates(layer))
                    : Float64Attention.EVERYTHING;
        }

        @Override
        boolean tiedHead() {
            return true;
        }
    }

    /** arXiv:2408.00118: norms before and behind the branches, soft caps, a window in every other layer. */
    private static class Gemma2 extends Float64Llama {
        Gemma2(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        /** The weight is stored as its difference from 1. */
        @Override
        double[][] norm(String name, double[][] x) {
            double[] weight = tensors.apply(name + ".weight").clone();
            for (int i = 0; i < weight.length; i++) {
                weight[i] += 1;
            }
            return Float64Rows.rmsNorm(x, weight, config.get("rms_norm_eps").doubleValue());
        }

        @Override
        double[][] attentionBranch(int layer, String block, double[][] x) {
            return norm(block + "post_attention_layernorm", super.attentionBranch(layer, block, x));
        }

        @Override
        double[][] mlpBranch(String block, double[][] x) {
            double[][] normed = norm(block + "pre_feedforward_layernorm", x);
            return norm(block + "post_feedforward_layernorm", mlp(block + "mlp.", normed));
        }

        @Override
        int window(int layer) {
            return windowWhere(layer, layer % 2 == 0);
        }

        @Override
        double embeddingScale() {
            return Math.sqrt(hidden);
        }

        @Override
        double scoreScale() {
            return 1 / Math.sqrt(config.get("query_pre_attn_scalar").doubleValue());
        }

        @Override
        double scoreCap() {
            return cap("attn_logit_softcapping");
        }

        @Override
        double logit(double x) {
            return Float64Rows.softCap(x, cap("final_logit_softcapping"));
        }

        @Override
        boolean tiedHead() {
            return true;
        }
    }

    /** arXiv:2503.19786: an RMSNorm of every query and key head, and layers with a window have positions of their own kind. */
    private static final class Gemma3 extends Gemma2 {
        Gemma3(JsonNode config, Function<String, double[]> tensors, int contextLength) {
            super(config, tensors, contextLength);
        }

        @Override
        double[][] queries(String prefix, double[][] x) {
            return norm(prefix + "q_norm", super.queries(prefix, x));
        }

        @Override
        double[][] keys(String prefix, double[][] x) {
            return norm(prefix + "k_norm", super.keys(prefix, x));
        }

        @Override
        int window(int layer) {
            return windowWhere(
                    layer, (layer + 1) % config.path("sliding_window_pattern").asInt(6) != 0);
        }

        @Override
        Float64Rope rope(int layer) {
            boolean local = window(layer) != Float64Attention.EVERYTHING;
            JsonNode section = config.path("rope_parameters").path(local ? "sliding_attention" : "full_attention");
            if (section.isObject()) {
                return rope(section, section.get("rope_theta").doubleValue());
            }
            return local
                    ? rope(section, config.get("rope_local_base_freq").doubleValue())
                    : rope(config.path("rope_scaling"), config.get("rope_theta").doubleValue());
        }

        @Override
        double scoreCap() {
            return Double.POSITIVE_INFINITY;
        }
    }
}
