package io.github.tornadotransformers.models.program;

import java.util.List;

/**
 * The Ops of one layer. Layers of the same kind have an equal block; a model may have several kinds (local and global
 * attention, say), which share their weights' stacks: a weight's index is the layer.
 */
public record Block(List<Op> ops) {
    public Block {
        ops = List.copyOf(ops);
    }
}
