package io.github.tornadotransformers.models.granite;

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
 * Granite's forward pass: Llama's, with multipliers of embeddings, scores, branches and logits.
 *
 * <p>Source: Granite Team 2024, "Granite 3.0 Language Models"; Hugging Face's {@code GraniteForCausalLM}.
 */
final class GraniteProgram {
    private GraniteProgram() {}

    static Program of(GraniteConfig config, int contextLength) {
        AttentionShape attention = config.heads().shape(contextLength);
        float scale = (float) config.multipliers().embedding();
        DecoderBuilder decoder = new DecoderBuilder(config, attention).tokenEmbedding(Names.EMBEDDING, scale);
        Block block = block(config, attention, decoder.block(Names.BLOCK));
        return decoder.build(
                Collections.nCopies(config.layers(), block),
                norm(config, Names.FINAL_NORM),
                Names.head(config.tiedHead()),
                Scaling.by((float) (1 / config.multipliers().logits())));
    }

    private static Block block(GraniteConfig config, AttentionShape attention, BlockBuilder block) {
        int hidden = config.sizes().hiddenSize();
        Residual residual = Residual.scaled((float) config.multipliers().residual());
        return block.norm("attentionNorm", norm(config, "input_layernorm."))
                .qkv(block.normed(), Names.qkv(attention, config.attentionBias()))
                .rotary(config.rope().table(attention.contextLength()))
                .attention(attention, Scaling.by((float) config.multipliers().attention()))
                .outputProjection(Names.output(hidden, config.attentionBias()), residual)
                .norm("mlpNorm", norm(config, "post_attention_layernorm."))
                .gatedMlp(
                        block.normed(),
                        config.activation(),
                        Names.gateUp(config.sizes().intermediateSize(), config.mlpBias()),
                        Names.down(hidden, config.mlpBias()),
                        residual)
                .build();
    }

    private static Norm norm(GraniteConfig config, String tensors) {
        return new Norm.Rms(tensors, config.rmsNormEps());
    }
}
