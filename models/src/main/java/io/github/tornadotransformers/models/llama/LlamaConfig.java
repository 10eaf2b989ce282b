package io.github.tornadotransformers.models.llama;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;

/**
 * The hyperparameters of Llama 1, 2, 3 and everything else that says {@code model_type: llama}; Hugging Face's names in
 * brackets where they differ.
 *
 * @param contextLength {@code max_position_embeddings}
 * @param layers {@code num_hidden_layers}
 * @param heads {@code num_attention_heads}
 * @param kvHeads {@code num_key_value_heads}, the number of heads where absent
 * @param headDim {@code head_dim}, {@code hiddenSize / heads} where absent
 * @param attentionBias whether q, k, v and o have a bias
 * @param mlpBias whether gate, up and down have a bias
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record LlamaConfig(
        int vocabSize,
        int contextLength,
        int hiddenSize,
        int intermediateSize,
        int layers,
        int heads,
        int kvHeads,
        int headDim,
        float rmsNormEps,
        double ropeTheta,
        RopeScaling ropeScaling,
        boolean attentionBias,
        boolean mlpBias,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "llama";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public LlamaConfig miniature() {
        int groups = kvHeads == heads ? 4 : 2;
        return new LlamaConfig(
                512,
                32,
                128,
                256,
                1,
                4,
                groups,
                32,
                rmsNormEps,
                ropeTheta,
                ropeScaling,
                attentionBias,
                mlpBias,
                tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return LlamaProgram.of(this, contextLength);
    }

    /** Radians per position of pair {@code i}: {@code theta^(-2i/headDim)}, scaled. */
    double[] inverseFrequencies() {
        double[] frequencies = new double[headDim / 2];
        for (int pair = 0; pair < frequencies.length; pair++) {
            frequencies[pair] = ropeScaling.scale(Math.pow(ropeTheta, -2.0 * pair / headDim));
        }
        return frequencies;
    }
}
