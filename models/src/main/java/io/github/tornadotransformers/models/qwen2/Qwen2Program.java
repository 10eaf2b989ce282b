package io.github.tornadotransformers.models.qwen2;

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
 * Qwen2's forward pass: Llama's, with biases of queries, keys and values.
 *
 * <p>Source: Yang et al. 2024, arXiv:2407.10671; Hugging Face's {@code Qwen2ForCausalLM}.
 */
final class Qwen2Program {
    private Qwen2Program() {}

    static Program of(Qwen2Config config, int contextLength) {
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

    private static Block block(Qwen2Config config, AttentionShape attention, RotaryTable rotary, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, true))
                .rotary(rotary)
                .attention(attention, Scaling.by(config.heads().scale()))
                .outputProjection(Names.output(hidden, false), Residual.ADD)
                .norm("mlpNorm", norm(config, "post_attention_layernorm."))
                .gatedMlp(
                        block.normed(),
                        config.activation(),
                        Names.gateUp(config.sizes().intermediateSize(), false),
                        Names.down(hidden, false),
                        Residual.ADD)
                .build();
    }

    private static Norm norm(Qwen2Config config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
