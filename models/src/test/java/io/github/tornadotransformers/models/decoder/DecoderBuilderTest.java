package io.github.tornadotransformers.models.decoder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DecoderBuilderTest {
    private static final ModelConfig CONFIG =
            ModelFamilies.all().getFirst().examples().getFirst();
    private static final AttentionShape SHAPE = CONFIG.program(4).attention();

    static Stream<Arguments> families() {
        return ModelFamilies.all().stream().map(family -> Arguments.of(family.modelType(), family));
    }

    private static DecoderBuilder builder() {
        return new DecoderBuilder(CONFIG, SHAPE).tokenEmbedding("table", 1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("families")
    void aContextIsAtMostWhatTheModelWasTrainedFor(String name, ModelFamily<?> family) {
        for (ModelConfig config : family.examples()) {
            int trained = config.contextLength();
            assertThat(config.program(1).contextLength()).isOne();
            assertThat(config.program(trained).contextLength()).isEqualTo(trained);
            assertThatThrownBy(() -> config.program(trained + 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("context length " + (trained + 1) + " is not in 1 to " + trained
                            + ", what the model was trained for");
            assertThatThrownBy(() -> config.program(0)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void everyLayerHasABlock() {
        Norm norm = new Norm.Rms("norm.", 1e-5f);
        assertThatThrownBy(() -> builder().build(List.of(), norm, Optional.empty(), Scaling.by(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("0 blocks for " + CONFIG.layers() + " layers");
    }

    @Test
    void layersOfTheSameKindShareTheirBlock() {
        DecoderBuilder builder = new DecoderBuilder(CONFIG.withLayers(4), SHAPE);
        List<Block> blocks = builder.blocks(
                layer -> layer == 2,
                special -> builder.block(special ? "special." : "usual.")
                        .norm("norm", new Norm.Rms("norm.", 1e-5f))
                        .build());
        assertThat(blocks).hasSize(4);
        assertThat(blocks.get(1)).isSameAs(blocks.get(0));
        assertThat(blocks.get(3)).isSameAs(blocks.get(0));
        assertThat(blocks.get(2)).isNotEqualTo(blocks.get(0));
    }

    @Test
    void aProjectionFillsItsBuffer() {
        BlockBuilder block = builder().block("b.");
        Projection narrow = Projection.of("o.", CONFIG.sizes().hiddenSize() - 1);
        assertThatThrownBy(() -> block.outputProjection(narrow))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("oProj makes " + (CONFIG.sizes().hiddenSize() - 1) + " columns, expected "
                        + CONFIG.sizes().hiddenSize());
    }

    @Test
    void aLayerNormIsBeforeItsBranch() {
        BlockBuilder block = builder().block("b.");
        assertThatThrownBy(() -> block.branchNorm("norm", new Norm.Layer("norm.", 1e-5f), Residual.ADD))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("norm is a LayerNorm behind a branch");
    }

    /** Where it is tied, the table is loaded once and serves twice. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("families")
    void everyTensorIsNamedOnce(String name, ModelFamily<?> family) {
        for (ModelConfig config : family.examples()) {
            Program program = config.program(4);
            List<String> names = program.weights().stream()
                    .flatMap(weight -> Stream.iterate(0, layer -> layer < weight.layers(), layer -> layer + 1)
                            .flatMap(layer -> weight.parts().stream().map(part -> part.tensorName(layer))))
                    .toList();
            assertThat(names).doesNotHaveDuplicates();
        }
    }
}
