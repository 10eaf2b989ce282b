package io.github.tornadotransformers.runner.madeup;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
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
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.List;
import java.util.Optional;

/**
 * A model that nobody has published: norms stand behind the branches and not before them, every third layer sees three positions and
 * has no rotary embedding, scores and logits are capped.
 *
 * @param cap of scores and logits
 */
public record MadeUpConfig(Sizes sizes, Heads heads, float cap) implements ModelConfig {
    static final String MODEL_TYPE = "made-up";
    static final String HEAD = "words_out";

    private static final int WINDOW = 3;
    private static final int PERIOD = 3;
    private static final String BLOCK = "floors." + TensorPart.LAYER + ".";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public MadeUpConfig miniature() {
        return new MadeUpConfig(sizes.miniature(), heads.miniature(), cap);
    }

    @Override
    public MadeUpConfig withLayers(int layers) {
        return new MadeUpConfig(sizes.withLayers(layers), heads, cap);
    }

    @Override
    public Program program(int contextLength) {
        AttentionShape attention = heads.shape(contextLength);
        LayerWindows windows = LayerWindows.of(WINDOW, layers(), layer -> layer % PERIOD == PERIOD - 1);
        DecoderBuilder decoder = new DecoderBuilder(this, attention).tokenEmbedding("words_in", 2f);
        return decoder.build(
                decoder.blocks(
                        windows::slides,
                        slides -> block(decoder.block(BLOCK), windows.shape(attention, slides), slides)),
                new Norm.Rms("top.", 1e-5f),
                Optional.of(HEAD),
                Scaling.by(1f).capped(cap));
    }

    private Block block(BlockBuilder block, AttentionShape attention, boolean slides) {
        int hidden = sizes.hiddenSize();
        int inner = sizes.intermediateSize();
        block.qkv(
                block.residual(),
                Projection.of("ask.", attention.queryWidth()).biased(true),
                Projection.of("answer.", 2 * attention.keyValueWidth()));
        if (!slides) {
            block.rotary(new Rope(1000, heads.headDim(), new RopeScaling.None()).table(attention.contextLength()));
        }
        return block.attention(attention, Scaling.by(heads.scale()).capped(cap))
                .outputProjection(Projection.of("mix.", hidden))
                .branchNorm("mixNorm", new Norm.Rms("mix_norm.", 1e-5f, 1f), Residual.scaled(0.5f))
                .gatedMlp(
                        block.residual(),
                        Activation.GELU_ERF,
                        List.of(Projection.of("think.", 2 * inner)),
                        Projection.of("say.", hidden))
                .branchNorm("sayNorm", new Norm.Rms("say_norm.", 1e-5f, 1f), Residual.ADD)
                .build();
    }
}
