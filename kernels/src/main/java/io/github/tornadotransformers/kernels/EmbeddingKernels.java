package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** What starts the residual stream: embeddings of tokens and of positions. */
public final class EmbeddingKernels {
    private EmbeddingKernels() {}

    /**
     * out[r][i] = table[i][tokens[r]] * factor.
     *
     * <p>Shapes: table [width][vocabSize] in any {@link WeightFormat}, as the head reads it; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous in out.
     */
    public static void lookUpTokens(
            IntArray tokens,
            FloatArray floats,
            IntArray words,
            FloatArray scales,
            FloatArray powers,
            IntArray step,
            FloatArray out,
            int format,
            int rows,
            int width,
            int vocabSize,
            float factor) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            int i = j % width;
            if (row < step.get(Step.ROWS)) {
                int token = tokens.get(row);
                float value = WeightFormat.element(format, floats, words, powers, i * vocabSize + token);
                out.set(j, value * WeightFormat.scale(format, scales, 0, i, vocabSize, token) * factor);
            }
        }
    }

    /**
     * out[r][i] += table[position of row r][i].
     *
     * <p>Shapes: table [positions][width]; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void addPositions(FloatArray table, IntArray step, FloatArray out, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            int row = i / width;
            if (row < step.get(Step.ROWS)) {
                int position = step.get(Step.position(row));
                out.set(i, out.get(i) + table.get(position * width + i - row * width));
            }
        }
    }
}
