package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** GPT-2, from Radford et al. 2019: learned positions, LayerNorm, weights stored {@code [inputs][outputs]}. */
final class Float64Gpt2 {
    private final JsonNode config;
    private final Function<String, double[]> tensors;

    Float64Gpt2(JsonNode config, Function<String, double[]> tensors) {
        this.config = config;
        this.tensors = tensors;
    }

    Float64Model.Result run(int[] ids) {
        int hidden = config.get("n_embd").intValue();
        int heads = config.get("n_head").intValue();
        int headDim = hidden / heads;
        double scale = config.path("scale_attn_weights").asBoolean(true) ? 1 / Math.sqrt(headDim) : 1;
        Float64Attention attention = new Float64Attention(
                heads, heads, headDim, Float64Attention.EVERYTHING, scale, Double.POSITIVE_INFINITY);
        double[][] x = Float64Rows.embed(tensors.apply("wte.weight"), ids, hidden);
        double[] positions = tensors.apply("wpe.weight");
        for (int row = 0; row < ids.length; row++) {
            for (int i = 0; i < hidden; i++) {
                x[row][i] += positions[row * hidden + i];
            }
        }
        List<double[][]> trace = new ArrayList<>();
        trace.add(Float64Rows.copy(x));
        for (int layer = 0; layer < config.get("n_layer").intValue(); layer++) {
            String block = "h." + layer + ".";
            double[][] qkv = conv1d(block + "attn.c_attn", layerNorm(block + "ln_1", x));
            double[][] attended = attention.attend(
                    Float64Rows.columns(qkv, 0, hidden),
                    Float64Rows.columns(qkv, hidden, hidden),
                    Float64Rows.columns(qkv, 2 * hidden, hidden));
            Float64Rows.add(x, conv1d(block + "attn.c_proj", attended));
            trace.add(Float64Rows.copy(x));
            double[][] inner = conv1d(block + "mlp.c_fc", layerNorm(block + "ln_2", x));
            Float64Rows.replaceEach(inner, Float64Rows::geluTanh);
            Float64Rows.add(x, conv1d(block + "mlp.c_proj", inner));
            trace.add(Float64Rows.copy(x));
        }
        String head = config.path("tie_word_embeddings").asBoolean(true) ? "wte.weight" : "lm_head.weight";
        int vocabSize = config.get("vocab_size").intValue();
        return new Float64Model.Result(trace, Float64Rows.linear(tensors.apply(head), layerNorm("ln_f", x), vocabSize));
    }

    /** A weight stored {@code [inputs][outputs]}, with a bias. */
    private double[][] conv1d(String name, double[][] x) {
        double[] weight = tensors.apply(name + ".weight");
        double[] bias = tensors.apply(name + ".bias");
        int outputs = bias.length;
        double[][] y = new double[x.length][outputs];
        for (int row = 0; row < x.length; row++) {
            for (int o = 0; o < outputs; o++) {
                y[row][o] = bias[o];
                for (int i = 0; i < x[row].length; i++) {
                    y[row][o] += x[row][i] * weight[i * outputs + o];
                }
            }
        }
        return y;
    }

    private double[][] layerNorm(String name, double[][] x) {
        return Float64Rows.layerNorm(
                x,
                tensors.apply(name + ".weight"),
                tensors.apply(name + ".bias"),
                config.path("layer_norm_epsilon").asDouble(1e-5));
    }
}
