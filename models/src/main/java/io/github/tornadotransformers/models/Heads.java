package io.github.tornadotransformers.models;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.program.AttentionShape;

/**
 * The heads of (grouped-query) attention, arXiv:2305.13245.
 *
 * @param heads query heads ({@code num_attention_heads})
 * @param kvHeads key and value heads, a divisor of {@code heads} ({@code num_key_value_heads})
 * @param headDim elements of a head ({@code head_dim})
 */
public record Heads(int heads, int kvHeads, int headDim) {
    private static final int MAX_HEAD_DIM = 1 << 16;

    /**
     * {@code num_attention_heads}, {@code num_key_value_heads} (as many where absent) and {@code head_dim}
     * ({@code hiddenSize / heads} where absent).
     *
     * @throws CheckpointException if one is missing or out of range, or if they do not fit together
     */
    public static Heads parse(ConfigReader config, int hiddenSize) {
        int heads = config.count("num_attention_heads", Integer.MAX_VALUE);
        if (!config.has("head_dim") && hiddenSize % heads != 0) {
            throw config.contradiction("hidden_size " + hiddenSize + " is not divisible by num_attention_heads " + heads
                    + ", and there is no head_dim");
        }
        return parse(config, heads, hiddenSize / heads);
    }

    /** As the other, with the head dimension that the family has where the config says nothing. */
    public static Heads parseOr(ConfigReader config, int headDim) {
        return parse(config, config.count("num_attention_heads", Integer.MAX_VALUE), headDim);
    }

    private static Heads parse(ConfigReader config, int heads, int otherwise) {
        int kvHeads = config.countOr("num_key_value_heads", Integer.MAX_VALUE, heads);
        if (heads % kvHeads != 0) {
            throw config.contradiction(
                    "num_attention_heads " + heads + " is not divisible by num_key_value_heads " + kvHeads);
        }
        int headDim = config.countOr("head_dim", MAX_HEAD_DIM, otherwise);
        if (headDim % 2 != 0 || headDim > MAX_HEAD_DIM) {
            throw config.contradiction("the head dimension is " + headDim
                    + " (head_dim, or hidden_size / num_attention_heads), expected an even number up to "
                    + MAX_HEAD_DIM);
        }
        if ((heads + 2L * kvHeads) * headDim > Integer.MAX_VALUE) {
            throw config.contradiction("(num_attention_heads " + heads + " + 2 * num_key_value_heads " + kvHeads
                    + ") * head dimension " + headDim + " is more than " + Integer.MAX_VALUE);
        }
        return new Heads(heads, kvHeads, headDim);
    }

    /** Writes what {@link #parse} reads. */
    public void describe(ObjectNode json) {
        json.put("num_attention_heads", heads);
        json.put("num_key_value_heads", kvHeads);
        json.put("head_dim", headDim);
    }

    /** Few heads, in groups where this has groups. */
    public Heads miniature() {
        return new Heads(4, kvHeads == heads ? 4 : 2, 64);
    }

    /** Causal attention with a cache for so many positions. */
    public AttentionShape shape(int contextLength) {
        return new AttentionShape(heads, kvHeads, headDim, contextLength);
    }

    /** {@code 1 / sqrt(headDim)}, rounded once: what scores are multiplied by unless a model says otherwise. */
    public float scale() {
        return (float) (1.0 / Math.sqrt(headDim));
    }
}
