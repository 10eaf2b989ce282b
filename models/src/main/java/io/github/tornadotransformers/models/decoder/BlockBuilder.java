package io.github.tornadotransformers.models.decoder;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Adds the Ops of one kind of block, in running order; see {@link DecoderBuilder}. */
public final class BlockBuilder {
    private final DecoderBuilder decoder;
    private final String prefix;
    private final List<Op> ops = new ArrayList<>();
    private final AttentionShape cache;
    private final Buffer normed;
    private final Buffer qkv;
    private final Buffer attended;
    private final Buffer branch;

    BlockBuilder(DecoderBuilder decoder, String prefix) {
        this.decoder = decoder;
        this.prefix = prefix;
        this.cache = decoder.attention();
        int hidden = decoder.residual().width();
        this.normed = Buffer.ofAllRows("normed", hidden);
        this.branch = Buffer.ofAllRows("branch", hidden);
        this.qkv = Buffer.ofAllRows("qkv", cache.fusedWidth());
        this.attended = Buffer.ofAllRows("attended", cache.queryWidth());
    }

    public Buffer residual() {
        return decoder.residual();
    }

    /** What a norm makes of the residual stream, to be projected. */
    public Buffer normed() {
        return normed;
    }

    /** What a branch gives before a norm joins it to the residual stream. */
    public Buffer branch() {
        return branch;
    }

    /** A norm before a branch: residual to normed. */
    public BlockBuilder norm(String name, Norm norm) {
        return add(norm.within(prefix).op(name, decoder.layers(), residual(), normed));
    }

    /** A norm behind a branch: {@code residual += scale * norm(branch)}. */
    public BlockBuilder branchNorm(String name, Norm norm, Residual residual) {
        return add(norm.within(prefix).op(name, decoder.layers(), branch, residual, residual()));
    }

    /** Queries, keys and values, side by side. */
    public BlockBuilder qkv(Buffer input, Projection... projections) {
        return linear("qkvProj", input, Activation.NONE, Residual.NONE, qkv, projections);
    }

    /** RMSNorm of the queries, in place: of each head, or of all heads at once, as wide as the norm is. */
    public BlockBuilder queryNorm(Norm.Rms norm, int width) {
        return headNorm("queryNorm", norm, 0, cache.queryWidth(), width);
    }

    /** RMSNorm of the keys, in place. */
    public BlockBuilder keyNorm(Norm.Rms norm, int width) {
        return headNorm("keyNorm", norm, cache.queryWidth(), cache.keyValueWidth(), width);
    }

    private BlockBuilder headNorm(String name, Norm.Rms norm, int firstColumn, int columns, int width) {
        Groups groups = new Groups(qkv.width(), firstColumn, columns / width, width);
        return add(norm.within(prefix).op(name, decoder.layers(), qkv, groups, Residual.NONE, qkv));
    }

    /** Rotates queries and keys. */
    public BlockBuilder rotary(RotaryTable table) {
        return add(new Op.Rotary("rotary", cache, table, qkv));
    }

    /**
     * Cache, scores, softmax and weighted values.
     *
     * @param shape the cache's, with the window of this kind of block
     */
    public BlockBuilder attention(AttentionShape shape, Scaling scaling) {
        Buffer scores = Buffer.ofAllRows("scores", shape.scoresWidth());
        add(new Op.CacheAppend("cacheAppend", shape, qkv));
        add(new Op.AttentionScores("attentionScores", shape, scaling, qkv, scores));
        add(new Op.Softmax("attentionSoftmax", shape, scores));
        return add(new Op.AttentionOutput("attentionOutput", shape, scores, attended));
    }

    /** The output projection of attention, joined to the residual stream. */
    public BlockBuilder outputProjection(Projection projection, Residual residual) {
        return linear("oProj", attended, Activation.NONE, residual, residual(), projection);
    }

    /** The output projection of attention, left in the branch for a norm. */
    public BlockBuilder outputProjection(Projection projection) {
        return linear("oProj", attended, Activation.NONE, Residual.NONE, branch, projection);
    }

    /**
     * A gated MLP, arXiv:2002.05202, joined to the residual stream: {@code down(activation(gate(x)) * up(x))}.
     *
     * @param gateUp gate and up, in one projection or in two
     */
    public BlockBuilder gatedMlp(
            Buffer input, Activation activation, List<Projection> gateUp, Projection down, Residual residual) {
        return gatedMlp(input, activation, gateUp, down, residual, residual());
    }

    /** A gated MLP, left in the branch for a norm. */
    public BlockBuilder gatedMlp(Buffer input, Activation activation, List<Projection> gateUp, Projection down) {
        return gatedMlp(input, activation, gateUp, down, Residual.NONE, branch);
    }

    private BlockBuilder gatedMlp(
            Buffer input,
            Activation activation,
            List<Projection> gateUp,
            Projection down,
            Residual residual,
            Buffer output) {
        int width = gateUp.stream().mapToInt(Projection::outputs).reduce(0, Math::addExact);
        Buffer both = Buffer.ofAllRows("gateUp", width);
        Buffer intermediate = Buffer.ofAllRows("intermediate", width / 2);
        linear("gateUpProj", input, Activation.NONE, Residual.NONE, both, gateUp.toArray(Projection[]::new));
        add(new Op.GatedMlp("gatedMlp", activation, both, intermediate));
        return linear("downProj", intermediate, Activation.NONE, residual, output, down);
    }

    /** A plain MLP, joined to the residual stream: {@code down(activation(up(x)))}. */
    public BlockBuilder mlp(Buffer input, Activation activation, Projection up, Projection down) {
        Buffer intermediate = Buffer.ofAllRows("intermediate", up.outputs());
        linear("upProj", input, activation, Residual.NONE, intermediate, up);
        return linear("downProj", intermediate, Activation.NONE, Residual.ADD, residual(), down);
    }

    private BlockBuilder linear(
            String name,
            Buffer input,
            Activation activation,
            Residual residual,
            Buffer output,
            Projection... projections) {
        boolean isBiased = Arrays.stream(projections).anyMatch(Projection::isBiased);
        List<TensorPart> weights = new ArrayList<>();
        List<TensorPart> biases = new ArrayList<>();
        int column = 0;
        for (Projection projection : projections) {
            weights.add(projection.weight(prefix, column));
            if (projection.isBiased()) {
                biases.add(projection.bias(prefix, column));
            }
            column = Math.addExact(column, projection.outputs());
        }
        if (column != output.width()) {
            throw new IllegalArgumentException(name + " makes " + column + " columns, expected " + output.width());
        }
        int layers = decoder.layers();
        Weight weight = new Weight(name + "Weight", layers, input.width(), column, Weight.Kind.MATRIX, weights);
        Optional<Weight> bias = isBiased
                ? Optional.of(new Weight(name + "Bias", layers, 1, column, Weight.Kind.FLOAT32, biases))
                : Optional.empty();
        return add(new Op.Linear(name, input, weight, bias, activation, residual, output));
    }

    private BlockBuilder add(Op op) {
        ops.add(op);
        return this;
    }

    public Block build() {
        return new Block(ops);
    }
}
