package io.github.tornadotransformers.models.phi3;

import io.github.tornadotransformers.models.decoder.BlockBuilder;
import io.github.tornadotransformers.models.decoder.DecoderBuilder;
import io.github.tornadotransformers.models.decoder.Names;
import io.github.tornadotransformers.models.decoder.Norm;
import io.github.tornadotransformers.models.decoder.Projection;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.List;

/**
 * Phi-3's forward pass: Llama's, with queries, keys and values in one tensor, and gate and up in another.
 *
 * <p>Source: Abdin et al. 2024, arXiv:2404.14219; Hugging Face's {@code Phi3ForCausalLM}.
 */
final class Phi3Program {
    private Phi3Program() {}

    static Program of(Phi3Config config, int contextLength) {
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

    private static Block block(Phi3Config config, AttentionShape attention, RotaryTable rotary, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Projection.of("self_attn.qkv_proj.", attention.fusedWidth()))
                .rotary(rotary)
                .attention(attention, Scaling.by(config.heads().scale()))
                .outputProjection(Names.output(hidden, false), Residual.ADD)
                .norm("mlpNorm", norm(config, "post_attention_layernorm."))
                .gatedMlp(
                        block.normed(),
                        config.activation(),
                        List.of(Projection.of(
                                "mlp.gate_up_proj.",
                                Math.multiplyExact(2, config.sizes().intermediateSize()))),
                        Names.down(hidden, false),
                        Residual.ADD)
                .build();
    }

    private static Norm norm(Phi3Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
