package io.github.tornadotransformers.models.gemma3;

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
 * Gemma 3's forward pass: Gemma 2's without soft caps, with an RMSNorm of every query and key head, and with rotary embeddings of
 * two kinds: five layers of six see a sliding window.
 *
 * <p>Source: Gemma Team 2025, arXiv:2503.19786; Hugging Face's {@code Gemma3ForCausalLM}.
 */
final class Gemma3Program {
    private static final float STORED_FROM = 1f;

    private Gemma3Program() {}

    static Program of(Gemma3Config config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        float scale = (float) Math.sqrt(config.sizes().hiddenSize());
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, scale);
        return decoder.build(
                decoder.blocks(
                        config.windows()::slides,
                        slides -> block(
                                config,
                                config.windows().shape(attention, slides),
                                (slides ? config.localRope() : config.rope()).table(contextLength),
                                decoder.block(Names.BLOCK))),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by(1f).capped(config.logitCap()));
    }

    private static Block block(Gemma3Config config, AttentionShape attention, RotaryTable rotary, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        int headDim = config.heads().headDim();
        boolean biased = config.attention().isBiased();
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, biased))
                .queryNorm(norm(config, "self_attn.q_norm."), headDim)
                .keyNorm(norm(config, "self_attn.k_norm."), headDim)
                .rotary(rotary)
                .attention(attention, config.attention().scaling())
                .outputProjection(Names.output(hidden, biased))
                .branchNorm("attentionBranchNorm", norm(config, "post_attention_layernorm."), Residual.ADD)
                .norm("mlpNorm", norm(config, "pre_feedforward_layernorm."))
                .gatedMlp(
                        block.normed(),
                        config.activation(),
                        Names.gateUp(config.sizes().intermediateSize(), false),
                        Names.down(hidden, false))
                .branchNorm("mlpBranchNorm", norm(config, "post_feedforward_layernorm."), Residual.ADD)
                .build();
    }

    private static Norm.Rms norm(Gemma3Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps(), STORED_FROM);
    }
}
