package io.github.tornadotransformers.models.program;

/**
 * A checkpoint tensor and its place in a {@link Weight}: columns {@code [firstColumn, firstColumn + columns)} of every row.
 *
 * @param tensorName the Hugging Face name below the model's prefix, with {@link #LAYER} where the layer index goes
 * @param columns how many of the weight's columns it fills
 * @param transposed whether the checkpoint stores {@code [columns][rows]} instead of the weight's {@code [rows][columns]}
 * @param offset added to every element as it is loaded: 1 where a norm's weight is stored as its difference from 1; only for
 *     weights of kind {@code FLOAT32}
 */
public record TensorPart(String tensorName, int firstColumn, int columns, boolean transposed, float offset) {
    /** Stands for the layer index in a tensor's name. */
    public static final String LAYER = "{layer}";

    /** A part that is stored as {@code [rows][columns]}, or as a vector. */
    public static TensorPart of(String tensorName, int firstColumn, int columns) {
        return new TensorPart(tensorName, firstColumn, columns, false, 0f);
    }

    /** A part that is stored as {@code [columns][rows]}: a linear layer's outputs before its inputs. */
    public static TensorPart transposed(String tensorName, int firstColumn, int columns) {
        return new TensorPart(tensorName, firstColumn, columns, true, 0f);
    }

    public String tensorName(int layer) {
        return tensorName.replace(LAYER, Integer.toString(layer));
    }
}
