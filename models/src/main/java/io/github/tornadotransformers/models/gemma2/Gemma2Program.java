package io.github.tornadotransformers.models.gemma2;

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
 * Gemma 2's forward pass: embeddings scaled by the root of their width, a norm before and a norm behind every branch, scores and
 * logits with soft caps, a sliding window in every other layer, and a gate with GELU. The norms' weights are stored as their
 * difference from 1.
 *
 * <p>Source: Gemma Team 2024, arXiv:2408.00118; Hugging Face's {@code Gemma2ForCausalLM}.
 */
final class Gemma2Program {
    private static final float STORED_FROM = 1f;

    private Gemma2Program() {}

    static Program of(Gemma2Config config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        RotaryTable rotary = config.rope().table(contextLength);
        float scale = (float) Math.sqrt(config.sizes().hiddenSize());
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, scale);
        return decoder.build(
                decoder.blocks(
                        config.windows()::slides,
                        slides -> block(
                                config, config.windows().shape(attention, slides), rotary, decoder.block(Names.BLOCK))),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by(1f).capped(config.logitCap()));
    }

    private static Block block(Gemma2Config config, AttentionShape attention, RotaryTable rotary, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        boolean biased = config.attention().isBiased();
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, biased))
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

    private static Norm norm(Gemma2Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps(), STORED_FROM);
    }
}
