package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;

/**
 * The gradient of every Op, on plain arrays. {@link ScalarBackwardOps} is the definition; any other implementation gives
 * its bits.
 *
 * <p>{@code dX} is the gradient of the loss with respect to {@code x}, of the same shape. A gradient of what an Op read is
 * <em>added</em> to what the array holds, unless the method says otherwise. The rows are one whole sequence: row {@code r}
 * stands at position {@code r}. Sums are sliced as those of {@link HostOps}, whatever index they run over: rows are cut at
 * multiples of {@link HostOps#SLICE} too.
 */
public interface BackwardOps {
    /** {@code dTable[i][tokens[r]] += dOut[r][i]}, r ascending; the table is {@code [width][vocabSize]}. */
    void tokenEmbedding(int[] tokens, int rows, int width, int vocabSize, float[] dOut, float[] dTable);

    /** {@code dTable[r][i] += dOut[r][i]}. */
    void positionEmbedding(int rows, int width, float[] dOut, float[] dTable);

    /**
     * With {@code n[i] = (x[i] - mean) * inverse}, mean and inverse root of the row as {@link HostOps#layerNorm} has them,
     * and {@code g[i] = dOut[i] * weight[i]}: {@code dX[i] += ((g[i] - mean(g)) - n[i] * mean(g * n)) * inverse}, both sums
     * sliced over i; {@code dWeight[i] += sum_r dOut[r][i] * n[r][i]} and {@code dBias[i] += sum_r dOut[r][i]}, sliced
     * over r.
     */
    void layerNorm(
            float[] x,
            float[] weight,
            float epsilon,
            int rows,
            int width,
            float[] dOut,
            float[] dX,
            float[] dWeight,
            float[] dBias);

    /**
     * With {@code n[i] = x[i] * inverse}, the inverse root of the row as {@link HostOps#rmsNorm} has it, and
     * {@code g[i] = dOut[i] * weight[i]}: {@code dX[i] += (g[i] - n[i] * mean(g * n)) * inverse}, sliced over i;
     * {@code dWeight[i] += sum_r dOut[r][i] * n[r][i]}, sliced over r.
     */
    void rmsNorm(
            float[] x, float[] weight, float epsilon, int rows, int width, float[] dOut, float[] dX, float[] dWeight);

    /** {@code dX[r][k] += sum_c dOut[r][c] * weight[k][c]}, sliced over c. */
    void linearInput(HostMatrix weight, int rows, float[] dOut, float[] dX);

    /** {@code dWeight[k][c] += sum_r x[r][k] * dOut[r][c]}, sliced over r. */
    void linearWeight(float[] x, int rows, int inputs, int outputs, float[] dOut, float[] dWeight);

    /** {@code dBias[c] += sum_r dOut[r][c]}, sliced over r. */
    void linearBias(int rows, int outputs, float[] dOut, float[] dBias);

    /** {@code out[i] = activation(x[i])}: what {@link HostOps#linear} does last, where what goes in must be kept. */
    void activate(Activation activation, int count, float[] x, float[] out);

    /** {@code dX[i] = dOut[i] * activation'(x[i])}, which replaces what {@code dX} held; it may be {@code dOut} itself. */
    void activation(Activation activation, int count, float[] x, float[] dOut, float[] dX);

    /** Rotates the pairs of every query and key head of {@code dQkv} back, in place. */
    void rotary(AttentionShape shape, RotaryTable table, int rows, float[] dQkv);

    /**
     * {@code dProbabilities[r][h][t] = sum_d dOut[r][h][d] * value[t][d]} for {@code t <= r}, one slice, replacing what was
     * there; {@code dValue[t][d] += sum_{r >= t} probabilities[r][h][t] * dOut[r][h][d]}, sliced over r, once for each query
     * head h that reads the value, in ascending order. Values and their gradients lie in {@code qkv} and {@code dQkv}.
     */
    void attentionOutput(
            AttentionShape shape,
            float[] probabilities,
            float[] qkv,
            int rows,
            float[] dOut,
            float[] dProbabilities,
            float[] dQkv);

    /**
     * {@code dScores[r][h][t] = p[t] * (dScores[t] - sum_t p[t] * dScores[t])} for {@code t <= r}, sliced over t, in place:
     * what comes in is the gradient of the probabilities p.
     */
    void softmax(AttentionShape shape, float[] probabilities, int rows, float[] dScores);

    /**
     * {@code dQuery[r][h][d] += (sum_{t <= r} dScores[r][h][t] * key[t][d]) * scale}, sliced over t;
     * {@code dKey[t][d] += (sum_{r >= t} dScores[r][h][t] * query[r][h][d]) * scale}, sliced over r, once for each query head
     * h that reads the key, in ascending order. All lie in {@code qkv} and {@code dQkv}, after rotation.
     */
    void attentionScores(AttentionShape shape, float scale, float[] qkv, int rows, float[] dScores, float[] dQkv);

    /** {@code dGate += (dOut * up) * silu'(gate)} and {@code dUp += dOut * silu(gate)}, element by element. */
    void swiGlu(float[] gateUp, int rows, int width, float[] dOut, float[] dGateUp);

    /** {@code dX[i] += dOut[i]}. */
    void selectRows(int count, float[] dOut, float[] dX);

    /**
     * {@code dLogits[r][c] = (p[r][c] - (c == targets[r] ? 1 : 0)) * scale} with {@code p = softmax(logits[r])}, replacing
     * what {@code dLogits} held; it may be {@code logits} itself.
     *
     * @param scale 1 over the number of targets that the loss is the mean of
     * @return {@code sum_r -log p[r][targets[r]]}, r ascending, in double: {@code log(sum) + (max - logit)} of the row's
     *     float32 maximum and sliced sum of exponentials
     */
    double crossEntropy(float[] logits, int[] targets, int rows, int vocabSize, float scale, float[] dLogits);

    /** What {@link io.github.tornadotransformers.models.program.Op#whyNotLearned} keeps from getting here. */
    static IllegalArgumentException notLearned(Activation activation) {
        return new IllegalArgumentException("the gradient of " + activation + " is not implemented");
    }
}
