package io.github.tornadotransformers.testsupport;

import java.util.Arrays;

/**
 * Grouped-query attention (arXiv:2305.13245) with a sliding window, heads side by side in each row; a key/value head serves
 * {@code heads / kvHeads} query heads.
 *
 * @param window how many positions a query sees, its own included
 * @param scale what scores are multiplied by
 * @param cap what scores are softly capped at; infinite for none
 */
record Float64Attention(int heads, int kvHeads, int headDim, int window, double scale, double cap) {
    static final int EVERYTHING = Integer.MAX_VALUE;

    double[][] attend(double[][] q, double[][] k, double[][] v) {
        double[][] out = new double[q.length][heads * headDim];
        for (int row = 0; row < q.length; row++) {
            for (int head = 0; head < heads; head++) {
                double[] weights = weights(q[row], k, row, head);
                int value = head * kvHeads / heads * headDim;
                for (int t = 0; t <= row; t++) {
                    for (int d = 0; d < headDim; d++) {
                        out[row][head * headDim + d] += weights[t] * v[t][value + d];
                    }
                }
            }
        }
        return out;
    }

    /** What a query head gives each position: 0 where it does not see it. */
    private double[] weights(double[] query, double[][] k, int row, int head) {
        int key = head * kvHeads / heads * headDim;
        double[] weights = new double[row + 1];
        Arrays.fill(weights, Double.NEGATIVE_INFINITY);
        for (int t = 0; t <= row; t++) {
            if (row - t < window) {
                double score = 0;
                for (int d = 0; d < headDim; d++) {
                    score += query[head * headDim + d] * k[t][key + d];
                }
                weights[t] = Float64Rows.softCap(score * scale, cap);
            }
        }
        double max = Arrays.stream(weights).max().orElseThrow();
        Arrays.setAll(weights, t -> Math.exp(weights[t] - max));
        double sum = Arrays.stream(weights).sum();
        Arrays.setAll(weights, t -> weights[t] / sum);
        return weights;
    }
}
