package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;

/**
 * The loop of every Op, on plain arrays. {@link ScalarOps} is the definition; any other implementation gives its bits.
 *
 * <p>Activations are float32, row-major, {@code [rows][width]}. {@link BatchRows} say at which position of which sequence a row
 * stands; no row sees another sequence's. {@link AttentionShape} has the layout of projections and scores, {@link KvLayer} that
 * of caches.
 */
public interface HostOps extends AutoCloseable {
    /** Indices at absolute multiples of this begin a new slice of a sum; see {@link ScalarOps}. */
    int SLICE = 128;

    /** {@code out[r][i] = table[i][tokens[r]] * scale}; the table is {@code [width][vocabSize]}. */
    void tokenEmbedding(HostMatrix table, float scale, int[] tokens, int rows, float[] out);

    /** {@code out[r][i] += table[position(r)][i]}; the table is {@code [positions][width]}. */
    void positionEmbedding(float[] table, BatchRows rows, int width, float[] out);

    /**
     * {@code out[r][i] = (x[r][i] - mean) * (1 / sqrt(variance + epsilon)) * weight[i] + bias[i]}, mean and variance of the
     * row; both sums over i are sliced. arXiv:1607.06450.
     */
    void layerNorm(float[] x, float[] weight, float[] bias, float epsilon, int rows, int width, float[] out);

    /**
     * {@code y[i] = weight[i] * (x[i] * (1 / sqrt(mean(x^2) + epsilon)))} of every group of columns, the sum over a group
     * sliced; {@code out = y}, or {@code out += scale * y}. {@code x} and {@code out} have the groups' row width, and may be the
     * same array. arXiv:1910.07467.
     *
     * @param weight as long as a group
     */
    void rmsNorm(Groups groups, float[] x, float[] weight, float epsilon, Residual residual, int rows, float[] out);

    /**
     * {@code y = activation(sum_k x[r][k] * weight[k][c] + bias[c])}, the sum sliced over k; {@code out[r][c] = y}, or
     * {@code out[r][c] += scale * y}.
     *
     * @param bias {@code [columns]}, or null for none
     */
    void linear(
            float[] x,
            HostMatrix weight,
            float[] bias,
            Activation activation,
            Residual residual,
            int rows,
            float[] out);

    /** Rotates the table's pairs {@code (i, i + pairs)} of every query and key head of {@code qkv}. arXiv:2104.09864. */
    void rotary(AttentionShape shape, RotaryTable table, BatchRows rows, float[] qkv);

    /** Copies the keys and values of {@code qkv} to the rows' positions in the caches of one layer. */
    void cacheAppend(AttentionShape shape, BatchRows rows, float[] qkv);

    /**
     * {@code scores[r][h][t] = scaling(sum_d query[r][h][d] * key[h'][d][t])} for every position t that the row's query
     * sees; the sum over a head is one slice. Scores of other positions are left undefined. With {@code y = sum * factor} the
     * scaling is y, or {@code cap * tanh(y * (1 / cap))}.
     */
    void attentionScores(AttentionShape shape, Scaling scaling, BatchRows rows, float[] qkv, float[] scores);

    /**
     * {@code p[t] = exp(scores[t] - max) / sum}, in place, over the positions t that a row's query sees, for every row
     * and head; the sum is sliced over t.
     */
    void softmax(AttentionShape shape, BatchRows rows, float[] scores);

    /**
     * {@code out[r][h][d] = sum_t p[r][h][t] * value[h'][t][d]} over the positions t that a row's query sees, sliced over t.
     */
    void attentionOutput(AttentionShape shape, BatchRows rows, float[] probabilities, float[] out);

    /** {@code out[r][i] = activation(gateUp[r][i]) * gateUp[r][width + i]}. arXiv:2002.05202. */
    void gatedMlp(Activation activation, float[] gateUp, int rows, int width, float[] out);

    /** {@code x[i] = scaling(x[i])}, as scores are scaled. */
    void scale(Scaling scaling, int count, float[] x);

    @Override
    void close();
}
