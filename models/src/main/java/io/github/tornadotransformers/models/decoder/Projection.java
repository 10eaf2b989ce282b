package io.github.tornadotransformers.models.decoder;

import io.github.tornadotransformers.models.program.TensorPart;

/**
 * A projection as the checkpoint stores it. Several of the same input, side by side, are one linear layer.
 *
 * @param tensors what stands before {@code weight} and {@code bias} in the names, below the block's prefix
 * @param outputs how many columns it makes
 * @param isBiased whether it has a bias; where a neighbour has one and it has none, its bias is 0
 * @param isTransposed whether the checkpoint stores {@code [outputs][inputs]}
 */
public record Projection(String tensors, int outputs, boolean isBiased, boolean isTransposed) {
    /** Of PyTorch's {@code Linear}, which stores outputs before inputs. */
    public static Projection of(String tensors, int outputs) {
        return new Projection(tensors, outputs, false, true);
    }

    /** The same with a bias, if {@code biased}. */
    public Projection biased(boolean biased) {
        return new Projection(tensors, outputs, biased, isTransposed);
    }

    TensorPart weight(String prefix, int firstColumn) {
        String name = prefix + tensors + "weight";
        return isTransposed
                ? TensorPart.transposed(name, firstColumn, outputs)
                : TensorPart.of(name, firstColumn, outputs);
    }

    TensorPart bias(String prefix, int firstColumn) {
        return TensorPart.of(prefix + tensors + "bias", firstColumn, outputs);
    }
}
