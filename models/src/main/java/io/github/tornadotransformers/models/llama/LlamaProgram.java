package io.github.tornadotransformers.models.llama;

import io.github.tornadotransformers.models.decoder.BlockBuilder;
import io.github.tornadotransformers.models.decoder.DecoderBuilder;
import io.github.tornadotransformers.models.decoder.Names;
import io.github.tornadotransformers.models.decoder.Norm;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.Collections;

/**
 * Llama's forward pass: RMSNorm, rotary positions, grouped-query attention and a SwiGLU MLP.
 *
 * <p>Source: Touvron et al. 2023, arXiv:2302.13971 and arXiv:2307.09288; tensor names as in Hugging Face's checkpoints,
 * whose linear weights are {@code [outputs][inputs]} and are transposed once, while loading.
 */
final class LlamaProgram {
    private LlamaProgram() {}

    static Program of(LlamaConfig config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, 1f);
        Block block = block(config, attention, decoder.block(Names.BLOCK));
        return decoder.build(
                Collections.nCopies(config.layers(), block),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by(1f));
    }

    private static Block block(LlamaConfig config, AttentionShape attention, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        int intermediate = config.sizes().intermediateSize();
        boolean attentionBias = config.attentionBias();
        boolean mlpBias = config.mlpBias();
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, attentionBias))
                .rotary(config.rope().table(attention.contextLength()))
                .attention(attention, Scaling.by(config.heads().scale()))
                .outputProjection(Names.output(hidden, attentionBias), Residual.ADD)
                .norm("mlpNorm", norm(config, "post_attention_layernorm."))
                .gatedMlp(
                        block.normed(),
                        Activation.SILU,
                        Names.gateUp(intermediate, mlpBias),
                        Names.down(hidden, mlpBias),
                        Residual.ADD)
                .build();
    }

    private static Norm norm(LlamaConfig config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
