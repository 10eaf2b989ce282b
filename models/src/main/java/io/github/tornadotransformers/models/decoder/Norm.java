package io.github.tornadotransformers.models.decoder;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.List;

/** A norm of whole rows, and where the checkpoint keeps its weight. */
public sealed interface Norm {
    /**
     * The Op of this norm.
     *
     * @param layers how many layers have it
     */
    default Op op(String name, int layers, Buffer input, Buffer output) {
        return op(name, layers, input, Residual.NONE, output);
    }

    /** As the other, joining a branch to what the output holds. */
    Op op(String name, int layers, Buffer input, Residual residual, Buffer output);

    /** The same norm, its tensors' names behind a prefix. */
    Norm within(String prefix);

    /**
     * LayerNorm, arXiv:1607.06450.
     *
     * @param tensors what stands before {@code weight} and {@code bias} in the names
     */
    record Layer(String tensors, float epsilon) implements Norm {
        @Override
        public Op op(String name, int layers, Buffer input, Residual residual, Buffer output) {
            if (residual.adds()) {
                throw new IllegalArgumentException(name + " is a LayerNorm behind a branch");
            }
            Weight weight = vector(name + "Weight", layers, input.width(), tensors + "weight", 0f);
            Weight bias = vector(name + "Bias", layers, input.width(), tensors + "bias", 0f);
            return new Op.LayerNorm(name, input, weight, bias, epsilon, output);
        }

        @Override
        public Layer within(String prefix) {
            return new Layer(prefix + tensors, epsilon);
        }
    }

    /**
     * RMSNorm, arXiv:1910.07467.
     *
     * @param tensors what stands before {@code weight} in the name
     * @param offset 1 where the checkpoint stores the weight's difference from 1
     */
    record Rms(String tensors, float epsilon, float offset) implements Norm {
        public Rms(String tensors, float epsilon) {
            this(tensors, epsilon, 0f);
        }

        @Override
        public Op op(String name, int layers, Buffer input, Residual residual, Buffer output) {
            return op(name, layers, input, Groups.wholeRow(input.width()), residual, output);
        }

        /** Of groups of columns, which share the weight. */
        Op op(String name, int layers, Buffer input, Groups groups, Residual residual, Buffer output) {
            Weight weight = vector(name + "Weight", layers, groups.size(), tensors + "weight", offset);
            return new Op.RmsNorm(name, input, groups, weight, epsilon, residual, output);
        }

        @Override
        public Rms within(String prefix) {
            return new Rms(prefix + tensors, epsilon, offset);
        }
    }

    private static Weight vector(String name, int layers, int size, String tensor, float offset) {
        return new Weight(
                name, layers, 1, size, Weight.Kind.FLOAT32, List.of(new TensorPart(tensor, 0, size, false, offset)));
    }
}
