package io.github.tornadotransformers.testsupport;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * GPT-2 and Llama in double, written from the papers: an independent judge of the engines. It knows nothing of programs,
 * slices or caches; every call runs the whole text, token by token and head by head.
 */
public final class Float64Model {
    /**
     * What a text gives.
     *
     * @param trace the embeddings, then the residual after attention and after the MLP of each block, {@code [row][hidden]}
     * @param logits {@code [row][vocabSize]}
     */
    public record Result(List<double[][]> trace, double[][] logits) {}

    private final ModelConfig config;
    private final Function<String, double[]> tensors;

    /** @param tensors elements of a checkpoint's tensor by its name below the family's prefix, row-major as stored */
    public Float64Model(ModelConfig config, Function<String, double[]> tensors) {
        this.config = config;
        this.tensors = tensors;
    }

    public Result run(int[] ids) {
        return switch (config) {
            case Gpt2Config gpt2 -> runGpt2(gpt2, ids);
            case LlamaConfig llama -> runLlama(llama, ids);
            default -> throw new IllegalArgumentException("no float64 model of " + config.modelType());
        };
    }

    private Result runGpt2(Gpt2Config config, int[] ids) {
        int hidden = config.sizes().hiddenSize();
        double[] positions = tensors.apply("wpe.weight");
        double[][] x = embed("wte.weight", ids, hidden);
        for (int row = 0; row < ids.length; row++) {
            for (int i = 0; i < hidden; i++) {
                x[row][i] += positions[row * hidden + i];
            }
        }
        List<double[][]> trace = new ArrayList<>();
        trace.add(copy(x));
        double scale = config.scalesAttention() ? 1 / Math.sqrt(config.heads().headDim()) : 1;
        for (int layer = 0; layer < config.layers(); layer++) {
            String block = "h." + layer + ".";
            double[][] qkv = conv1d(block + "attn.c_attn", layerNorm(config, block + "ln_1", x), 3 * hidden);
            double[][] attended = attend(
                    columns(qkv, 0, hidden),
                    columns(qkv, hidden, hidden),
                    columns(qkv, 2 * hidden, hidden),
                    config.headCount(),
                    config.headCount(),
                    config.heads().headDim(),
                    scale);
            add(x, conv1d(block + "attn.c_proj", attended, hidden));
            trace.add(copy(x));
            double[][] inner = conv1d(
                    block + "mlp.c_fc",
                    layerNorm(config, block + "ln_2", x),
                    config.sizes().intermediateSize());
            for (double[] row : inner) {
                for (int i = 0; i < row.length; i++) {
                    double u = Math.sqrt(2 / Math.PI) * (row[i] + 0.044715 * Math.pow(row[i], 3));
                    row[i] = 0.5 * row[i] * (1 + Math.tanh(u));
                }
            }
            add(x, conv1d(block + "mlp.c_proj", inner, hidden));
            trace.add(copy(x));
        }
        double[][] normed = layerNorm(config, "ln_f", x);
        String head = config.tiedHead() ? "wte.weight" : "lm_head.weight";
        return new Result(trace, linear(head, normed, config.vocabSize()));
    }

    private Result runLlama(LlamaConfig config, int[] ids) {
        int hidden = config.sizes().hiddenSize();
        int headDim = config.heads().headDim();
        int intermediate = config.sizes().intermediateSize();
        double[][] x = embed("embed_tokens.weight", ids, hidden);
        List<double[][]> trace = new ArrayList<>();
        trace.add(copy(x));
        for (int layer = 0; layer < config.layers(); layer++) {
            String block = "layers." + layer + ".";
            boolean biased = config.attentionBias();
            double[][] normed = rmsNorm(config, block + "input_layernorm.weight", x);
            double[][] q = projection(
                    block + "self_attn.q_proj", normed, config.heads().heads() * headDim, biased);
            double[][] k = projection(
                    block + "self_attn.k_proj", normed, config.heads().kvHeads() * headDim, biased);
            double[][] v = projection(
                    block + "self_attn.v_proj", normed, config.heads().kvHeads() * headDim, biased);
            rotate(config, q);
            rotate(config, k);
            double[][] attended =
                    attend(q, k, v, config.heads().heads(), config.heads().kvHeads(), headDim, 1 / Math.sqrt(headDim));
            add(x, projection(block + "self_attn.o_proj", attended, hidden, biased));
            trace.add(copy(x));
            normed = rmsNorm(config, block + "post_attention_layernorm.weight", x);
            double[][] gate = projection(block + "mlp.gate_proj", normed, intermediate, config.mlpBias());
            double[][] up = projection(block + "mlp.up_proj", normed, intermediate, config.mlpBias());
            for (int row = 0; row < ids.length; row++) {
                for (int i = 0; i < intermediate; i++) {
                    gate[row][i] = gate[row][i] / (1 + Math.exp(-gate[row][i])) * up[row][i];
                }
            }
            add(x, projection(block + "mlp.down_proj", gate, hidden, config.mlpBias()));
            trace.add(copy(x));
        }
        double[][] normed = rmsNorm(config, "norm.weight", x);
        String head = config.tiedHead() ? "embed_tokens.weight" : "lm_head.weight";
        return new Result(trace, linear(head, normed, config.vocabSize()));
    }

    private double[][] embed(String name, int[] ids, int hidden) {
        double[] table = tensors.apply(name);
        double[][] x = new double[ids.length][hidden];
        for (int row = 0; row < ids.length; row++) {
            System.arraycopy(table, ids[row] * hidden, x[row], 0, hidden);
        }
        return x;
    }

    /** A weight stored {@code [inputs][outputs]}, with a bias. */
    private double[][] conv1d(String name, double[][] x, int outputs) {
        double[] weight = tensors.apply(name + ".weight");
        double[] bias = tensors.apply(name + ".bias");
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

    private double[][] projection(String name, double[][] x, int outputs, boolean biased) {
        double[][] y = linear(name + ".weight", x, outputs);
        if (biased) {
            double[] bias = tensors.apply(name + ".bias");
            for (double[] row : y) {
                for (int o = 0; o < outputs; o++) {
                    row[o] += bias[o];
                }
            }
        }
        return y;
    }

    /** A weight stored {@code [outputs][inputs]}. */
    private double[][] linear(String name, double[][] x, int outputs) {
        double[] weight = tensors.apply(name);
        double[][] y = new double[x.length][outputs];
        for (int row = 0; row < x.length; row++) {
            int inputs = x[row].length;
            for (int o = 0; o < outputs; o++) {
                for (int i = 0; i < inputs; i++) {
                    y[row][o] += weight[o * inputs + i] * x[row][i];
                }
            }
        }
        return y;
    }

    private double[][] layerNorm(Gpt2Config config, String name, double[][] x) {
        double[] weight = tensors.apply(name + ".weight");
        double[] bias = tensors.apply(name + ".bias");
        double[][] y = copy(x);
        for (double[] row : y) {
            double mean = 0;
            double squares = 0;
            for (double value : row) {
                mean += value / row.length;
                squares += value * value / row.length;
            }
            double deviation = Math.sqrt(squares - mean * mean + config.layerNormEps());
            for (int i = 0; i < row.length; i++) {
                row[i] = (row[i] - mean) / deviation * weight[i] + bias[i];
            }
        }
        return y;
    }

    private double[][] rmsNorm(LlamaConfig config, String name, double[][] x) {
        double[] weight = tensors.apply(name);
        double[][] y = copy(x);
        for (double[] row : y) {
            double squares = 0;
            for (double value : row) {
                squares += value * value;
            }
            double root = Math.sqrt(squares / row.length + config.rmsNormEps());
            for (int i = 0; i < row.length; i++) {
                row[i] = row[i] / root * weight[i];
            }
        }
        return y;
    }

    private static void rotate(LlamaConfig config, double[][] x) {
        int headDim = config.heads().headDim();
        for (int position = 0; position < x.length; position++) {
            for (int head = 0; head < x[position].length; head += headDim) {
                for (int i = 0; i < headDim / 2; i++) {
                    double angle = position * frequency(config, i);
                    double a = x[position][head + i];
                    double b = x[position][head + i + headDim / 2];
                    x[position][head + i] = a * Math.cos(angle) - b * Math.sin(angle);
                    x[position][head + i + headDim / 2] = b * Math.cos(angle) + a * Math.sin(angle);
                }
            }
        }
    }

    private static double frequency(LlamaConfig config, int pair) {
        double frequency =
                1 / Math.pow(config.rope().theta(), 2.0 * pair / config.heads().headDim());
        return switch (config.rope().scaling()) {
            case RopeScaling.None _ -> frequency;
            case RopeScaling.Linear linear -> frequency / linear.factor();
            case RopeScaling.Llama3 llama3 -> {
                double turns = llama3.originalContextLength() * frequency / (2 * Math.PI);
                double smooth = (turns - llama3.lowFreqFactor()) / (llama3.highFreqFactor() - llama3.lowFreqFactor());
                double kept = Math.clamp(smooth, 0.0, 1.0);
                yield frequency * (kept + (1 - kept) / llama3.factor());
            }
            case RopeScaling.Yarn _, RopeScaling.LongRope _ ->
                throw new IllegalArgumentException("no float64 model of " + config.rope());
        };
    }

    /** Causal attention, heads side by side in each row; a key/value head serves {@code heads / kvHeads} query heads. */
    private static double[][] attend(
            double[][] q, double[][] k, double[][] v, int heads, int kvHeads, int headDim, double scale) {
        double[][] out = new double[q.length][heads * headDim];
        for (int row = 0; row < q.length; row++) {
            for (int head = 0; head < heads; head++) {
                int query = head * headDim;
                int key = head * kvHeads / heads * headDim;
                double[] weights = new double[row + 1];
                double sum = 0;
                for (int t = 0; t <= row; t++) {
                    for (int d = 0; d < headDim; d++) {
                        weights[t] += q[row][query + d] * k[t][key + d] * scale;
                    }
                }
                double max = Arrays.stream(weights).max().orElseThrow();
                for (int t = 0; t <= row; t++) {
                    weights[t] = Math.exp(weights[t] - max);
                    sum += weights[t];
                }
                for (int t = 0; t <= row; t++) {
                    for (int d = 0; d < headDim; d++) {
                        out[row][query + d] += weights[t] / sum * v[t][key + d];
                    }
                }
            }
        }
        return out;
    }

    private static double[][] columns(double[][] x, int first, int count) {
        double[][] part = new double[x.length][];
        for (int row = 0; row < x.length; row++) {
            part[row] = Arrays.copyOfRange(x[row], first, first + count);
        }
        return part;
    }

    private static void add(double[][] x, double[][] y) {
        for (int row = 0; row < x.length; row++) {
            for (int i = 0; i < x[row].length; i++) {
                x[row][i] += y[row][i];
            }
        }
    }

    private static double[][] copy(double[][] x) {
        return Arrays.stream(x).map(double[]::clone).toArray(double[][]::new);
    }
}
