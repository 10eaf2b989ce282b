package io.github.tornadotransformers.models.smollm3;

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
import java.util.Optional;

/**
 * SmolLM3's forward pass: Llama's, with layers that have no rotary embedding (every fourth, unless the config says otherwise).
 *
 * <p>Source: Hugging Face 2025, "SmolLM3"; Yang et al. 2025, arXiv:2501.18795; Hugging Face's {@code SmolLM3ForCausalLM}.
 */
final class SmolLm3Program {
    private SmolLm3Program() {}

    /** What layers of the same block have in common. */
    private record Kind(boolean rotates, boolean slides) {}

    static Program of(SmolLm3Config config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        RotaryTable rotary = config.rope().table(contextLength);
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, 1f);
        return decoder.build(
                decoder.blocks(
                        layer -> new Kind(
                                config.rotates().get(layer), config.windows().slides(layer)),
                        kind -> block(
                                config,
                                config.windows().shape(attention, kind.slides()),
                                kind.rotates() ? Optional.of(rotary) : Optional.empty(),
                                decoder.block(Names.BLOCK))),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by(1f));
    }

    private static Block block(
            SmolLm3Config config, AttentionShape attention, Optional<RotaryTable> rotary, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, config.attentionBias()));
        rotary.ifPresent(block::rotary);
        return block.attention(attention, Scaling.by(config.heads().scale()))
                .outputProjection(Names.output(hidden, config.attentionBias()), Residual.ADD)
                .norm("mlpNorm", norm(config, "post_attention_layernorm."))
                .gatedMlp(
                        block.normed(),
                        config.activation(),
                        Names.gateUp(config.sizes().intermediateSize(), config.mlpBias()),
                        Names.down(hidden, config.mlpBias()),
                        Residual.ADD)
                .build();
    }

    private static Norm norm(SmolLm3Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
