package io.github.tornadotransformers.models.program;

/**
 * A checkpoint tensor and its place in a {@link Weight}: columns {@code [firstColumn, firstColumn + columns)} of every row.
 *
 * @param tensorName the Hugging Face name below the model's prefix, with {@link #LAYER} where the layer index goes
 * @param columns how many of the weight's columns it fills
 * @param transposed whether the checkpoint stores {@code [columns][rows]} instead of the weight's {@code [rows][columns]}
 */
public record TensorPart(String tensorName, int firstColumn, int columns, boolean transposed) {
    /** Stands for the layer index in a tensor's name. */
    public static final String LAYER = "{layer}";

    public String tensorName(int layer) {
        return tensorName.replace(LAYER, Integer.toString(layer));
    }
}
