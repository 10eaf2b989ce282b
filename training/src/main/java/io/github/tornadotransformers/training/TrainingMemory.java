package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.List;

/** How much memory training takes, known before any of it is allocated. */
public final class TrainingMemory {
    private static final double GIB = 1L << 30;

    private TrainingMemory() {}

    /**
     * Bytes of so many {@link ParameterArrays}: what an engine with memory of its own leaves to the host.
     *
     * @param copies weights and gradients, and an optimizer's means
     * @throws ArithmeticException if a {@code long} cannot hold it
     */
    public static long parameterBytes(Program program, int copies) {
        long parameters = 0;
        for (Weight weight : program.weights()) {
            parameters = Math.addExact(parameters, weight.size());
        }
        return Math.multiplyExact(Math.multiplyExact(parameters, (long) copies), (long) Float.BYTES);
    }

    /**
     * Bytes of the arrays of a {@link TrainingPass}, and of so many {@link ParameterArrays}.
     *
     * @throws ArithmeticException if a {@code long} cannot hold it
     */
    public static long bytes(Program program, int parameterCopies) {
        long width = program.buffers().stream().mapToLong(Buffer::width).sum();
        width = Math.addExact(width, keptWidth(program.embedding()));
        for (Block block : program.blocks()) {
            width = Math.addExact(width, keptWidth(block.ops()));
        }
        width = Math.addExact(width, keptWidth(program.head()));
        width = Math.addExact(width, 2L * program.attention().keyValueWidth());
        long activations = Math.multiplyExact(width, (long) program.contextLength());
        return Math.addExact(
                parameterBytes(program, parameterCopies), Math.multiplyExact(activations, (long) Float.BYTES));
    }

    /** @throws TrainingException with both figures, if that is more than the JVM may ever have */
    public static void require(long bytes) {
        long allowed = Runtime.getRuntime().maxMemory();
        if (bytes > allowed) {
            throw new TrainingException(Wording.of(
                    "training needs %.1f GiB of memory, and the JVM may have %.1f: choose a smaller %s or model, or %s-Xmx%dg",
                    bytes / GIB, allowed / GIB, Term.CONTEXT, Term.JVM_FLAG, (long) Math.ceil(1.2 * bytes / GIB)));
        }
    }

    /** Elements of a row that the Ops keep for the way back; those that work in place keep none. */
    private static long keptWidth(List<Op> ops) {
        long width = 0;
        for (Op op : ops) {
            width += switch (op.effect()) {
                case OVERWRITES, ADDS ->
                    (isActivated(op) ? 2L : 1L) * op.output().width();
                case IN_PLACE, STORES -> 0L;
            };
        }
        return width;
    }

    private static boolean isActivated(Op op) {
        return op instanceof Op.Linear linear && linear.activation() != Activation.NONE;
    }
}
