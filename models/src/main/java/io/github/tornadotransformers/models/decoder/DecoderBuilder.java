package io.github.tornadotransformers.models.decoder;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Makes the Ops of a decoder in running order, with the weights that they need: what the programs of all families share. A
 * family says what its block does, and what its tensors are called; names of Ops, buffers and weights come from here.
 *
 * <p>Each call of {@link #block} begins another kind of block. Kinds share weights: the same Op in each has the same stack.
 */
public final class DecoderBuilder {
    private static final String EMBEDDING = "tokenEmbedding";
    private static final String HEAD = "lmHead";

    private final String family;
    private final int layers;
    private final int vocabSize;
    private final AttentionShape attention;
    private final List<Op> embedding = new ArrayList<>();
    private final Buffer residual;
    private Weight table;

    /**
     * @param attention the cache's shape
     * @throws IllegalArgumentException if its context is longer than the model was trained for
     */
    public DecoderBuilder(ModelConfig config, AttentionShape attention) {
        requireContext(attention.contextLength(), config.contextLength());
        this.family = config.modelType();
        this.vocabSize = config.vocabSize();
        this.layers = config.layers();
        this.attention = attention;
        this.residual = Buffer.ofAllRows("residual", config.sizes().hiddenSize());
    }

    private static void requireContext(int contextLength, int trained) {
        if (contextLength < 1 || contextLength > trained) {
            throw new IllegalArgumentException("context length " + contextLength + " is not in 1 to " + trained
                    + ", what the model was trained for");
        }
    }

    /** The stream that every block reads and adds to. */
    public Buffer residual() {
        return residual;
    }

    /**
     * The token embedding, from the checkpoint's {@code [vocabSize][hiddenSize]}.
     *
     * @param scale what it is multiplied by
     */
    public DecoderBuilder tokenEmbedding(String tensor, float scale) {
        table = new Weight(
                EMBEDDING,
                1,
                residual.width(),
                vocabSize,
                Weight.Kind.MATRIX,
                List.of(TensorPart.transposed(tensor, 0, vocabSize)));
        embedding.add(new Op.TokenEmbedding(EMBEDDING, table, scale, residual));
        return this;
    }

    /** A learned embedding of positions, {@code [positions][hiddenSize]}. */
    public DecoderBuilder positionEmbedding(String tensor, int positions) {
        Weight weight = new Weight(
                "positionEmbedding",
                1,
                positions,
                residual.width(),
                Weight.Kind.FLOAT32,
                List.of(TensorPart.of(tensor, 0, residual.width())));
        embedding.add(new Op.PositionEmbedding("positionEmbedding", weight, residual));
        return this;
    }

    /**
     * A block whose tensors' names begin with a prefix.
     *
     * @param prefix with {@link TensorPart#LAYER} where the layer's index goes
     */
    public BlockBuilder block(String prefix) {
        return new BlockBuilder(this, prefix);
    }

    /**
     * A block for each layer, layers of the same kind sharing one.
     *
     * @param kind what layers of the same block have in common
     */
    public <K> List<Block> blocks(IntFunction<K> kind, Function<K, Block> block) {
        Map<K, Block> made = new HashMap<>();
        List<Block> blocks = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            blocks.add(made.computeIfAbsent(kind.apply(layer), block));
        }
        return blocks;
    }

    /**
     * The whole program: the last row's norm and logits behind the blocks.
     *
     * @param blocks one for each layer
     * @param norm of the final residual
     * @param ownHead the tensor of the head; none where the token embedding serves
     * @param scaling of the logits
     */
    public Program build(List<Block> blocks, Norm norm, Optional<String> ownHead, Scaling scaling) {
        if (blocks.size() != layers) {
            throw new IllegalArgumentException(blocks.size() + " blocks for " + layers + " layers");
        }
        Buffer selected = Buffer.ofLogitRows("selected", residual.width());
        Buffer normed = Buffer.ofLogitRows("finalNormed", residual.width());
        Buffer logits = Buffer.ofLogitRows("logits", vocabSize);
        Weight head = ownHead.map(this::head).orElse(table);
        List<Op> ops = new ArrayList<>();
        ops.add(new Op.SelectRows("selectRows", residual, selected));
        ops.add(norm.op("finalNorm", 1, selected, normed));
        ops.add(new Op.Linear(HEAD, normed, head, Optional.empty(), Activation.NONE, Residual.NONE, logits));
        if (!scaling.isIdentity()) {
            ops.add(new Op.Scale("logitScaling", scaling, logits));
        }
        return new Program(family, vocabSize, attention, embedding, blocks, ops, residual, logits);
    }

    private Weight head(String tensor) {
        return new Weight(
                HEAD,
                1,
                residual.width(),
                vocabSize,
                Weight.Kind.MATRIX,
                List.of(TensorPart.transposed(tensor, 0, vocabSize)));
    }

    int layers() {
        return layers;
    }

    AttentionShape attention() {
        return attention;
    }
}
