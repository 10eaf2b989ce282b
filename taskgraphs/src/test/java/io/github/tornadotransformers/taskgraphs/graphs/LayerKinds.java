package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.RotaryTable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Programs whose layers are of two kinds. */
public final class LayerKinds {
    private LayerKinds() {}

    /** The same program, but for the second of every three layers, which rotates by other angles. */
    public static Program mixed(Program program) {
        int layers = program.layers();
        List<Block> blocks = IntStream.range(0, layers)
                .mapToObj(layer -> layer % 3 == 1)
                .map(new Other(program)::block)
                .toList();
        return new Program(
                program.family(),
                program.vocabSize(),
                program.attention(),
                program.embedding(),
                blocks,
                program.head(),
                program.residual(),
                program.logits());
    }

    /** The two blocks, each made once. */
    private static final class Other {
        private final Block one;
        private final Block other;

        Other(Program program) {
            one = program.blocks().getFirst();
            other = new Block(one.ops().stream().map(Other::rotatedOtherwise).toList());
        }

        Block block(boolean isOther) {
            return isOther ? other : one;
        }

        private static Op rotatedOtherwise(Op op) {
            if (!(op instanceof Op.Rotary rotary)) {
                return op;
            }
            double[] frequencies = new double[rotary.table().pairs()];
            Arrays.setAll(frequencies, pair -> 1.0 / (pair + 3));
            RotaryTable table = RotaryTable.of(frequencies, 1, rotary.table().positions());
            return new Op.Rotary(rotary.name(), rotary.shape(), table, rotary.output());
        }
    }
}
