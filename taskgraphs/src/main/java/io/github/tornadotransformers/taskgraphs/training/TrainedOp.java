package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.graphs.ActivationKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An Op of which a gradient will be taken, and the versions of the buffers it works on. A buffer of the program is an array that its Ops write
 * again and again; here an Op that replaces it, or adds to it, gets an array of its own, so that what was there before is still
 * there on the way back. Position embedding, rotation and softmax work in place: their gradients need only what they leave.
 *
 * @param before the version of each buffer that an Op so far has written
 * @param after the same, once this Op has run
 * @param cached the projection whose keys and values are in the cache; null before there is one
 */
record TrainedOp(Op op, Map<Buffer, Integer> before, Map<Buffer, Integer> after, Buffer cached) {
    TrainedOp {
        before = Map.copyOf(before);
        after = Map.copyOf(after);
    }

    /** The Ops of a part of a program, the first of which finds its input in the buffer's first version. */
    static List<TrainedOp> of(List<Op> ops, Buffer input) {
        Map<Buffer, Integer> versions = new HashMap<>(Map.of(input, ActivationKey.FIRST));
        List<TrainedOp> trained = new ArrayList<>();
        Buffer cached = null;
        for (Op op : ops) {
            Map<Buffer, Integer> before = Map.copyOf(versions);
            if (!worksInPlace(op)) {
                versions.merge(op.output(), ActivationKey.FIRST, (last, _) -> last + 1);
            }
            cached = op instanceof Op.CacheAppend append ? append.qkv() : cached;
            trained.add(new TrainedOp(op, before, versions, cached));
        }
        return trained;
    }

    private static boolean worksInPlace(Op op) {
        return switch (op.effect()) {
            case IN_PLACE, STORES -> true;
            case OVERWRITES -> false;
            case ADDS -> op instanceof Op.PositionEmbedding;
        };
    }
}
