package io.github.tornadotransformers.models.program;

import java.util.List;
import java.util.Optional;

/** What the programs of all families share: how weights are named and stacked, attention, and the head. */
public final class ProgramParts {
    public static final String RESIDUAL = "residual";
    private static final String EMBEDDING = "tokenEmbedding";

    private ProgramParts() {}

    /** @throws IllegalArgumentException if the length is not in {@code [1, trained]} */
    public static void requireContext(int contextLength, int trained) {
        if (contextLength < 1 || contextLength > trained) {
            throw new IllegalArgumentException("context length " + contextLength + " is not in 1 to " + trained
                    + ", what the model was trained for");
        }
    }

    /** Norm weights and biases: {@code [layers][size]}, float32. */
    public static Weight vector(String name, int layers, int size, String tensorName) {
        return vector(name, layers, size, List.of(new TensorPart(tensorName, 0, size, false)));
    }

    public static Weight vector(String name, int layers, int size, List<TensorPart> parts) {
        return new Weight(name, layers, 1, size, Weight.Kind.FLOAT32, parts);
    }

    /** The token embedding as {@code [hiddenSize][vocabSize]}, from the checkpoint's {@code [vocabSize][hiddenSize]}. */
    public static Weight tokenEmbedding(int hiddenSize, int vocabSize, String tensorName) {
        return transposedMatrix(EMBEDDING, 1, hiddenSize, vocabSize, tensorName);
    }

    /** A linear layer's weight that the checkpoint stores as {@code [outputs][inputs]}. */
    public static Weight transposedMatrix(String name, int layers, int rows, int columns, String tensorName) {
        return matrix(name, layers, rows, columns, List.of(new TensorPart(tensorName, 0, columns, true)));
    }

    public static Weight matrix(String name, int layers, int rows, int columns, List<TensorPart> parts) {
        return new Weight(name, layers, rows, columns, Weight.Kind.MATRIX, parts);
    }

    /** Cache, scores, softmax and weighted values: what follows the projection, or its rotation, in every family. */
    public static List<Op> attention(AttentionShape shape, float scale, Buffer qkv, Buffer attended) {
        Buffer scores = Buffer.ofAllRows("scores", shape.scoresWidth());
        return List.of(
                new Op.CacheAppend("cacheAppend", shape, qkv),
                new Op.AttentionScores("attentionScores", shape, scale, qkv, scores),
                new Op.Softmax("attentionSoftmax", shape, scores),
                new Op.AttentionOutput("attentionOutput", shape, scores, attended));
    }

    /** {@code 1 / sqrt(headDim)}, rounded once. */
    public static float attentionScale(int headDim) {
        return (float) (1.0 / Math.sqrt(headDim));
    }

    /** A linear layer without bias or activation that replaces its output. */
    public static Op.Linear linear(String name, Buffer input, Weight weight, Buffer output) {
        return new Op.Linear(name, input, weight, Optional.empty(), Activation.NONE, false, output);
    }
}
