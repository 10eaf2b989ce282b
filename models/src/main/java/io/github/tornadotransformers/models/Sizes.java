package io.github.tornadotransformers.models;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The sizes that every decoder has, named as the field names them; Hugging Face's usual names in brackets.
 *
 * @param contextLength positions that the model was trained for ({@code max_position_embeddings})
 * @param hiddenSize width of the residual stream ({@code hidden_size})
 * @param intermediateSize width of the MLP ({@code intermediate_size})
 * @param layers {@code num_hidden_layers}
 */
public record Sizes(int vocabSize, int contextLength, int hiddenSize, int intermediateSize, int layers) {
    /** The most layers that a config may ask for. */
    public static final int MAX_LAYERS = 1 << 16;

    /**
     * The fields of today's decoders: {@code vocab_size}, {@code max_position_embeddings}, {@code hidden_size},
     * {@code intermediate_size} and {@code num_hidden_layers}.
     *
     * @param otherwise the context length where the config has none
     * @throws CheckpointException if one is missing or out of range
     */
    public static Sizes parse(ConfigReader config, int otherwise) {
        return new Sizes(
                config.count("vocab_size", Integer.MAX_VALUE),
                config.countOr("max_position_embeddings", Integer.MAX_VALUE, otherwise),
                config.count("hidden_size", Integer.MAX_VALUE),
                config.count("intermediate_size", Integer.MAX_VALUE / 2),
                config.count("num_hidden_layers", MAX_LAYERS));
    }

    /** Writes what {@link #parse} reads. */
    public void describe(ObjectNode json) {
        json.put("vocab_size", vocabSize);
        json.put("max_position_embeddings", contextLength);
        json.put("hidden_size", hiddenSize);
        json.put("intermediate_size", intermediateSize);
        json.put("num_hidden_layers", layers);
    }

    /** So few of everything that a forward pass takes little time, and still enough for every loop, and for a block of any format. */
    public Sizes miniature() {
        return new Sizes(256, 32, 256, 256, Math.min(layers, 1));
    }

    public Sizes withLayers(int layers) {
        return new Sizes(vocabSize, contextLength, hiddenSize, intermediateSize, layers);
    }
}
