package io.github.tornadotransformers.models.program;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.stream.Stream;

/**
 * The forward pass of one model: the embedding Ops once, the block's Ops once per layer, the head's Ops once. It holds
 * shapes and names, no data; host and device run the same program.
 *
 * @param layers how often the block runs; {@code Weight.layers} of its weights
 * @param attention the cache's shape
 * @param residual the stream that every block reads and adds to
 * @param logits the last Op's output, width {@code vocabSize}
 */
public record Program(
        String family,
        int layers,
        int vocabSize,
        AttentionShape attention,
        List<Op> embedding,
        List<Op> block,
        List<Op> head,
        Buffer residual,
        Buffer logits) {
    public Program {
        embedding = List.copyOf(embedding);
        block = List.copyOf(block);
        head = List.copyOf(head);
    }

    /** Every Op once, in running order. */
    public List<Op> ops() {
        return Stream.of(embedding, block, head).flatMap(List::stream).toList();
    }

    /**
     * Whether what a trace shows is complete after this Op: the embeddings, the residual stream after each branch of a block,
     * and the logits.
     */
    public boolean isTracePoint(Op op) {
        return op.equals(embedding.getLast())
                || op.equals(head.getLast())
                || op instanceof Op.Linear linear && linear.addsToOutput();
    }

    /** Positions that one sequence can hold. */
    public int contextLength() {
        return attention.contextLength();
    }

    public SequencedSet<Buffer> buffers() {
        SequencedSet<Buffer> buffers = new LinkedHashSet<>();
        for (Op op : ops()) {
            buffers.add(op.output());
        }
        return buffers;
    }

    public SequencedSet<Weight> weights() {
        SequencedSet<Weight> weights = new LinkedHashSet<>();
        for (Op op : ops()) {
            weights.addAll(weightsOf(op));
        }
        return weights;
    }

    /** Bytes of keys and values of all layers, float32. */
    public long cacheBytes() {
        return Math.multiplyExact(2L * Float.BYTES * layers, attention.cacheLayerSize());
    }

    private static List<Weight> weightsOf(Op op) {
        return switch (op) {
            case Op.TokenEmbedding embed -> List.of(embed.table());
            case Op.PositionEmbedding embed -> List.of(embed.table());
            case Op.LayerNorm norm -> List.of(norm.weight(), norm.bias());
            case Op.RmsNorm norm -> List.of(norm.weight());
            case Op.Linear linear ->
                linear.bias().map(bias -> List.of(linear.weight(), bias)).orElse(List.of(linear.weight()));
            case Op.Rotary _,
                    Op.CacheAppend _,
                    Op.AttentionScores _,
                    Op.Softmax _,
                    Op.AttentionOutput _,
                    Op.SwiGlu _,
                    Op.SelectRows _ -> List.of();
        };
    }
}
