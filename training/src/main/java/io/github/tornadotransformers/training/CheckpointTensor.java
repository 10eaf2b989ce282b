package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A tensor of a Hugging Face checkpoint and where its elements lie in {@link ParameterArrays}.
 *
 * @param name as the checkpoint spells it, with prefix
 */
public record CheckpointTensor(String name, Weight weight, int layer, TensorPart part) {
    /**
     * Every tensor of a program, in its order.
     *
     * @param fullName what the checkpoint calls a tensor that the program names without prefix
     */
    public static List<CheckpointTensor> of(Program program, UnaryOperator<String> fullName) {
        List<CheckpointTensor> tensors = new ArrayList<>();
        for (Weight weight : program.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                for (TensorPart part : weight.parts()) {
                    tensors.add(new CheckpointTensor(fullName.apply(part.tensorName(layer)), weight, layer, part));
                }
            }
        }
        return tensors;
    }

    public List<Long> shape() {
        return weight.shapeOf(part);
    }

    public long elements() {
        return (long) weight.rows() * part.columns();
    }

    /** Copies {@code count} elements from the index {@code first} on, in the checkpoint's order. */
    public void read(ParameterArrays arrays, long first, float[] to, int count) {
        float[] layerArray = arrays.layer(weight, layer);
        int minor = part.transposed() ? weight.rows() : part.columns();
        int major = Math.toIntExact(first / minor);
        int at = Math.toIntExact(first % minor);
        for (int i = 0; i < count; i++) {
            to[i] = layerArray[index(major, at)];
            at++;
            if (at == minor) {
                at = 0;
                major++;
            }
        }
    }

    private int index(int major, int minor) {
        int row = part.transposed() ? minor : major;
        int column = part.transposed() ? major : minor;
        return row * weight.columns() + part.firstColumn() + column;
    }

    /** The sum and the L2 norm of the elements, in double, in the program's order. */
    public Moments moments(ParameterArrays arrays) {
        float[] layerArray = arrays.layer(weight, layer);
        double sum = 0;
        double squares = 0;
        for (int row = 0; row < weight.rows(); row++) {
            int first = row * weight.columns() + part.firstColumn();
            for (int i = first; i < first + part.columns(); i++) {
                sum += layerArray[i];
                squares += (double) layerArray[i] * layerArray[i];
            }
        }
        return new Moments(sum, Math.sqrt(squares));
    }

    /** What a tensor's elements amount to. */
    public record Moments(double sum, double l2) {}
}
