package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;

/**
 * Llama (arXiv:2302.13971, arXiv:2307.09288), from the JSON of its config: RMSNorm, rotary positions, grouped-query attention and a
 * gated MLP. The families after it say in {@link Float64Families} what they do otherwise.
 */
class Float64Llama {
    final JsonNode config;
    final Function<String, double[]> tensors;
    final int contextLength;
    final int hidden;
    final int heads;
    final int kvHeads;
    final int headDim;

    /** @param contextLength positions that a sequence may have */
    Float64Llama(JsonNode config, Function<String, double[]> tensors, int contextLength) {
        this.config = config;
        this.tensors = tensors;
        this.contextLength = contextLength;
        this.hidden = config.get("hidden_size").intValue();
        this.heads = config.get("num_attention_heads").intValue();
        this.kvHeads = config.path("num_key_value_heads").asInt(heads);
        this.headDim = config.path("head_dim").asInt(hidden / heads);
    }

    Float64Model.Result run(int[] ids) {
        double[][] x = Float64Rows.embed(tensors.apply("embed_tokens.weight"), ids, hidden);
        Float64Rows.replaceEach(x, value -> value * embeddingScale());
        List<double[][]> trace = new ArrayList<>();
        trace.add(Float64Rows.copy(x));
        for (int layer = 0; layer < config.get("num_hidden_layers").intValue(); layer++) {
            String block = "layers." + layer + ".";
            Float64Rows.add(x, attentionBranch(layer, block, x));
            trace.add(Float64Rows.copy(x));
            Float64Rows.add(x, mlpBranch(block, x));
            trace.add(Float64Rows.copy(x));
        }
        String head = config.path("tie_word_embeddings").asBoolean(tiedHead()) ? "embed_tokens" : "lm_head";
        double[][] logits = linear(head, norm("norm", x), false);
        Float64Rows.replaceEach(logits, this::logit);
        return new Float64Model.Result(trace, logits);
    }

    /** What the residual stream gets of attention. */
    double[][] attentionBranch(int layer, String block, double[][] x) {
        return attention(layer, block + "self_attn.", norm(block + "input_layernorm", x));
    }

    /** What the residual stream gets of the MLP. */
    double[][] mlpBranch(String block, double[][] x) {
        return mlp(block + "mlp.", norm(block + "post_attention_layernorm", x));
    }

    double[][] attention(int layer, String prefix, double[][] x) {
        double[][] q = queries(prefix, x);
        double[][] k = keys(prefix, x);
        if (rotates(layer)) {
            rope(layer).rotate(q, headDim);
            rope(layer).rotate(k, headDim);
        }
        Float64Attention attention =
                new Float64Attention(heads, kvHeads, headDim, window(layer), scoreScale(), scoreCap());
        return linear(prefix + "o_proj", attention.attend(q, k, values(prefix, x)), hasOutputBias());
    }

    double[][] queries(String prefix, double[][] x) {
        return linear(prefix + "q_proj", x, hasAttentionBias());
    }

    double[][] keys(String prefix, double[][] x) {
        return linear(prefix + "k_proj", x, hasAttentionBias());
    }

    double[][] values(String prefix, double[][] x) {
        return linear(prefix + "v_proj", x, hasAttentionBias());
    }

    double[][] mlp(String prefix, double[][] x) {
        return linear(prefix + "down_proj", gated(gate(prefix, x), up(prefix, x)), hasMlpBias());
    }

    double[][] gate(String prefix, double[][] x) {
        return linear(prefix + "gate_proj", x, hasMlpBias());
    }

    double[][] up(String prefix, double[][] x) {
        return linear(prefix + "up_proj", x, hasMlpBias());
    }

    private double[][] gated(double[][] gate, double[][] up) {
        Float64Rows.replaceEach(gate, activation());
        for (int row = 0; row < gate.length; row++) {
            for (int i = 0; i < gate[row].length; i++) {
                gate[row][i] *= up[row][i];
            }
        }
        return gate;
    }

    private DoubleUnaryOperator activation() {
        String name = config.path("hidden_act")
                .asText(config.path("hidden_activation").asText("silu"));
        return switch (name) {
            case "silu" -> Float64Rows::silu;
            case "gelu" -> Float64Rows::gelu;
            case "gelu_pytorch_tanh" -> Float64Rows::geluTanh;
            default -> throw new IllegalArgumentException("no float64 activation " + name);
        };
    }

    /** A weight stored {@code [outputs][inputs]}. */
    final double[][] linear(String name, double[][] x, boolean biased) {
        double[] weight = tensors.apply(name + ".weight");
        double[][] y = Float64Rows.linear(weight, x, weight.length / x[0].length);
        if (biased) {
            Float64Rows.addBias(y, tensors.apply(name + ".bias"));
        }
        return y;
    }

    double[][] norm(String name, double[][] x) {
        return Float64Rows.rmsNorm(
                x, tensors.apply(name + ".weight"), config.path("rms_norm_eps").asDouble(1e-6));
    }

    /** The rotary embedding of a layer: {@code rope_parameters}, or what older configs have in its place. */
    Float64Rope rope(int layer) {
        JsonNode section = config.path(config.hasNonNull("rope_parameters") ? "rope_parameters" : "rope_scaling");
        double theta =
                section.path("rope_theta").asDouble(config.path("rope_theta").asDouble(10_000));
        return rope(section, theta);
    }

    final Float64Rope rope(JsonNode section, double theta) {
        double part = section.path("partial_rotary_factor")
                .asDouble(config.path("partial_rotary_factor").asDouble(1));
        JsonNode complete = section;
        String original = "original_max_position_embeddings";
        if (section.isObject() && !section.has(original) && config.has(original)) {
            complete = section.<ObjectNode>deepCopy().set(original, config.get(original));
        }
        return Float64Rope.of(
                complete,
                theta,
                (int) Math.round(headDim * part),
                contextLength,
                config.path("max_position_embeddings").asInt());
    }

    boolean rotates(int layer) {
        return true;
    }

    /** How many positions a layer's queries see. */
    int window(int layer) {
        return Float64Attention.EVERYTHING;
    }

    /** What {@code layer_types} says of a layer; {@code otherwise} where the config has no such list. */
    final int windowWhere(int layer, boolean otherwise) {
        JsonNode types = config.path("layer_types");
        boolean slides = types.isArray() ? types.get(layer).textValue().equals("sliding_attention") : otherwise;
        return slides && config.hasNonNull("sliding_window")
                ? config.get("sliding_window").intValue()
                : Float64Attention.EVERYTHING;
    }

    boolean hasAttentionBias() {
        return config.path("attention_bias").asBoolean();
    }

    boolean hasOutputBias() {
        return hasAttentionBias();
    }

    boolean hasMlpBias() {
        return config.path("mlp_bias").asBoolean();
    }

    boolean tiedHead() {
        return false;
    }

    double embeddingScale() {
        return 1;
    }

    double scoreScale() {
        return 1 / Math.sqrt(headDim);
    }

    double scoreCap() {
        return Double.POSITIVE_INFINITY;
    }

    double logit(double x) {
        return x;
    }

    /** A cap's field, where null is none. */
    final double cap(String field) {
        return config.hasNonNull(field) ? config.get(field).doubleValue() : Double.POSITIVE_INFINITY;
    }
}
