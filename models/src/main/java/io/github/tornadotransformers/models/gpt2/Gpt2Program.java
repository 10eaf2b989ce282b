package io.github.tornadotransformers.models.gpt2;

import io.github.tornadotransformers.models.decoder.BlockBuilder;
import io.github.tornadotransformers.models.decoder.DecoderBuilder;
import io.github.tornadotransformers.models.decoder.Norm;
import io.github.tornadotransformers.models.decoder.Projection;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.program.TensorPart;
import java.util.Collections;
import java.util.Optional;

/**
 * GPT-2's forward pass: learned positions, pre-norm blocks with LayerNorm, biased projections and a GELU MLP.
 *
 * <p>Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", and the released checkpoints'
 * tensor names. GPT-2 stores its linear weights as {@code [inputs][outputs]}, so nothing but the embedding is transposed.
 */
final class Gpt2Program {
    private static final String BLOCK = "h." + TensorPart.LAYER + ".";

    private Gpt2Program() {}

    static Program of(Gpt2Config config, int contextLength) {
        int layers = config.layers();
        AttentionShape attention = config.heads().shape(contextLength);
        DecoderBuilder decoder = new DecoderBuilder(config, attention)
                .tokenEmbedding("wte.weight", 1f)
                .positionEmbedding("wpe.weight", config.contextLength());
        return decoder.build(
                Collections.nCopies(layers, block(config, attention, decoder.block(BLOCK))),
                norm(config, "ln_f."),
                config.tiedHead() ? Optional.empty() : Optional.of("lm_head.weight"),
                Scaling.by(1f));
    }

    private static Block block(Gpt2Config config, AttentionShape attention, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        int intermediate = config.sizes().intermediateSize();
        float scale = config.scalesAttention() ? config.heads().scale() : 1f;
        return block.norm("attentionNorm", norm(config, "ln_1."))
                .qkv(block.normed(), projection("attn.c_attn.", attention.fusedWidth()))
                .attention(attention, Scaling.by(scale))
                .outputProjection(projection("attn.c_proj.", hidden), Residual.ADD)
                .norm("mlpNorm", norm(config, "ln_2."))
                .mlp(
                        block.normed(),
                        Activation.GELU_TANH,
                        projection("mlp.c_fc.", intermediate),
                        projection("mlp.c_proj.", hidden))
                .build();
    }

    private static Norm norm(Gpt2Config config, String tensors) {
        return new Norm.Layer(tensors, config.layerNormEps());
    }

    /** Biased, and stored as the engine wants it. */
    private static Projection projection(String tensors, int outputs) {
        return new Projection(tensors, outputs, true, false);
    }
}
