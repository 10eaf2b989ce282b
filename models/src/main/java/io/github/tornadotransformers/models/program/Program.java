package io.github.tornadotransformers.models.program;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.stream.Stream;

/**
 * The forward pass of one model: the embedding's Ops, a block for every layer, the head's Ops. It holds shapes and names, no
 * data; host and device run the same program.
 *
 * @param attention the cache's shape, the same in every layer but for what a query sees
 * @param blocks one for each layer; layers of the same kind have an equal one
 * @param residual the stream that every block reads and adds to
 * @param logits the last Op's output, width {@code vocabSize}
 */
public record Program(
        String family,
        int vocabSize,
        AttentionShape attention,
        List<Op> embedding,
        List<Block> blocks,
        List<Op> head,
        Buffer residual,
        Buffer logits) {
    public Program {
        embedding = List.copyOf(embedding);
        blocks = List.copyOf(blocks);
        head = List.copyOf(head);
    }

    /** How many blocks run; {@code Weight.layers} of their weights. */
    public int layers() {
        return blocks.size();
    }

    /** The kinds of blocks, in the order of their first layer. */
    public List<Block> kinds() {
        return blocks.stream().distinct().toList();
    }

    /** Every Op once, in running order; of layers of the same kind once. */
    public List<Op> ops() {
        return Stream.of(embedding.stream(), kinds().stream().flatMap(block -> block.ops().stream()), head.stream())
                .flatMap(each -> each)
                .distinct()
                .toList();
    }

    /**
     * Whether what a trace shows is complete after this Op: the embeddings, the residual stream after each branch of a block,
     * and the logits.
     */
    public boolean isTracePoint(Op op) {
        return op.equals(embedding.getLast())
                || op.equals(head.getLast())
                || op.effect() == Effect.ADDS && op.output().equals(residual) && !embedding.contains(op);
    }

    /** Why the model cannot be trained, in words; empty where it can. */
    public Optional<String> whyNotLearned() {
        return ops().stream()
                .flatMap(op -> op.whyNotLearned().map(reason -> op.name() + " " + reason).stream())
                .findFirst();
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
            weights.addAll(op.weights());
        }
        return weights;
    }

    /** Bytes of keys and values of all layers, float32. */
    public long cacheBytes() {
        return Math.multiplyExact(2L * Float.BYTES * layers(), attention.cacheLayerSize());
    }
}
