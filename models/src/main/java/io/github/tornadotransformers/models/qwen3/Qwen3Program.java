package io.github.tornadotransformers.models.qwen3;

import io.github.tornadotransformers.models.decoder.BlockBuilder;
import io.github.tornadotransformers.models.decoder.DecoderBuilder;
import io.github.tornadotransformers.models.decoder.Names;
import io.github.tornadotransformers.models.decoder.Norm;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;

/**
 * Qwen3's forward pass: Llama's, with an RMSNorm of every query and key head before it is rotated.
 *
 * <p>Source: Yang et al. 2025, arXiv:2505.09388; Hugging Face's {@code Qwen3ForCausalLM}.
 */
final class Qwen3Program {
    private Qwen3Program() {}

    static Program of(Qwen3Config config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        RotaryTable rotary = config.rope().table(contextLength);
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, 1f);
        return decoder.build(
                decoder.blocks(
                        config.windows()::slides,
                        slides -> block(
                                config, config.windows().shape(attention, slides), rotary, decoder.block(Names.BLOCK))),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by(1f));
    }

    private static Block block(Qwen3Config config, AttentionShape attention, RotaryTable rotary, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        int headDim = config.heads().headDim();
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, config.attentionBias()))
                .queryNorm(norm(config, "self_attn.q_norm."), headDim)
                .keyNorm(norm(config, "self_attn.k_norm."), headDim)
                .rotary(rotary)
                .attention(attention, Scaling.by(config.heads().scale()))
                .outputProjection(Names.output(hidden, config.attentionBias()), Residual.ADD)
                .norm("mlpNorm", norm(config, "post_attention_layernorm."))
                .gatedMlp(
                        block.normed(),
                        config.activation(),
                        Names.gateUp(config.sizes().intermediateSize(), false),
                        Names.down(hidden, false),
                        Residual.ADD)
                .build();
    }

    private static Norm.Rms norm(Qwen3Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
