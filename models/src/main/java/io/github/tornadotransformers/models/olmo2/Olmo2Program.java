package io.github.tornadotransformers.models.olmo2;

import io.github.tornadotransformers.models.decoder.BlockBuilder;
import io.github.tornadotransformers.models.decoder.DecoderBuilder;
import io.github.tornadotransformers.models.decoder.Names;
import io.github.tornadotransformers.models.decoder.Norm;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.Collections;

/**
 * OLMo 2's forward pass: no norm before a branch but one behind it, and an RMSNorm of all queries and one of all keys before they
 * are rotated.
 *
 * <p>Source: OLMo Team 2024, arXiv:2501.00656; Hugging Face's {@code Olmo2ForCausalLM}.
 */
final class Olmo2Program {
    private Olmo2Program() {}

    static Program of(Olmo2Config config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, 1f);
        Block block = block(config, attention, decoder.block(Names.BLOCK));
        return decoder.build(
                Collections.nCopies(config.layers(), block),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by(1f));
    }

    private static Block block(Olmo2Config config, AttentionShape attention, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        return block.qkv(block.residual(), Names.qkv(attention, config.attentionBias()))
                .queryNorm(norm(config, "self_attn.q_norm."), attention.queryWidth())
                .keyNorm(norm(config, "self_attn.k_norm."), attention.keyValueWidth())
                .rotary(config.rope().table(attention.contextLength()))
                .attention(attention, Scaling.by(config.heads().scale()))
                .outputProjection(Names.output(hidden, config.attentionBias()))
                .branchNorm("attentionBranchNorm", norm(config, "post_attention_layernorm."), Residual.ADD)
                .gatedMlp(
                        block.residual(),
                        config.activation(),
                        Names.gateUp(config.sizes().intermediateSize(), false),
                        Names.down(hidden, false))
                .branchNorm("mlpBranchNorm", norm(config, "post_feedforward_layernorm."), Residual.ADD)
                .build();
    }

    private static Norm.Rms norm(Olmo2Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
