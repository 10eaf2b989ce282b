package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An Op of which a gradient will be taken, and the arrays it works on. A buffer of the program is an array that its Ops write
 * again and again; here an Op that replaces it, or adds to it, gets an array of its own, so that what was there before is still
 * there on the way back. Position embedding, rotation and softmax work in place: their gradients need only what they leave.
 *
 * @param before what the array of each buffer is called that an Op so far has written
 * @param after the same, once this Op has run
 * @param cached the projection whose keys and values are in the cache; null before there is one
 */
record TrainedOp(Op op, Map<Buffer, String> before, Map<Buffer, String> after, Buffer cached) {
    TrainedOp {
        before = Map.copyOf(before);
        after = Map.copyOf(after);
    }

    /** The Ops of a part of a program, the first of which finds its input in an array of the buffer's name. */
    static List<TrainedOp> of(List<Op> ops, Buffer input) {
        Map<Buffer, Integer> counts = new HashMap<>(Map.of(input, 1));
        Map<Buffer, String> names = new HashMap<>(Map.of(input, input.name()));
        List<TrainedOp> trained = new ArrayList<>();
        Buffer cached = null;
        for (Op op : ops) {
            Map<Buffer, String> before = Map.copyOf(names);
            if (!worksInPlace(op)) {
                int count = counts.merge(op.output(), 1, Integer::sum);
                names.put(op.output(), op.output().name() + (count == 1 ? "" : "." + count));
            }
            cached = op instanceof Op.CacheAppend append ? append.qkv() : cached;
            trained.add(new TrainedOp(op, before, names, cached));
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

    /** What the array of the Op's output is called. */
    String output() {
        return after.get(op.output());
    }

    /** What the array is called of what a layer's activation is applied to. */
    static String sumOf(Op.Linear linear) {
        return linear.name() + ".sum";
    }
}
