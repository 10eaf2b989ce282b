package io.github.tornadotransformers.testsupport;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/** What the float64 models are made of: functions of rows {@code x[row][column]}, each as its paper writes it. */
final class Float64Rows {
    private Float64Rows() {}

    static double[][] embed(double[] table, int[] ids, int hidden) {
        double[][] x = new double[ids.length][hidden];
        for (int row = 0; row < ids.length; row++) {
            System.arraycopy(table, ids[row] * hidden, x[row], 0, hidden);
        }
        return x;
    }

    /** A weight stored {@code [outputs][inputs]}. */
    static double[][] linear(double[] weight, double[][] x, int outputs) {
        double[][] y = new double[x.length][outputs];
        for (int row = 0; row < x.length; row++) {
            int inputs = x[row].length;
            for (int o = 0; o < outputs; o++) {
                for (int i = 0; i < inputs; i++) {
                    y[row][o] += weight[o * inputs + i] * x[row][i];
                }
            }
        }
        return y;
    }

    static void addBias(double[][] x, double[] bias) {
        for (double[] row : x) {
            for (int i = 0; i < row.length; i++) {
                row[i] += bias[i];
            }
        }
    }

    /**
     * RMSNorm of groups of columns, arXiv:1910.07467.
     *
     * @param weight as long as a group
     */
    static double[][] rmsNorm(double[][] x, double[] weight, double epsilon) {
        double[][] y = copy(x);
        for (double[] row : y) {
            for (int first = 0; first < row.length; first += weight.length) {
                double squares = 0;
                for (int i = 0; i < weight.length; i++) {
                    squares += row[first + i] * row[first + i];
                }
                double root = Math.sqrt(squares / weight.length + epsilon);
                for (int i = 0; i < weight.length; i++) {
                    row[first + i] = row[first + i] / root * weight[i];
                }
            }
        }
        return y;
    }

    /** LayerNorm, arXiv:1607.06450. */
    static double[][] layerNorm(double[][] x, double[] weight, double[] bias, double epsilon) {
        double[][] y = copy(x);
        for (double[] row : y) {
            double mean = 0;
            double squares = 0;
            for (double value : row) {
                mean += value / row.length;
                squares += value * value / row.length;
            }
            double deviation = Math.sqrt(squares - mean * mean + epsilon);
            for (int i = 0; i < row.length; i++) {
                row[i] = (row[i] - mean) / deviation * weight[i] + bias[i];
            }
        }
        return y;
    }

    static double[][] columns(double[][] x, int first, int count) {
        return Arrays.stream(x)
                .map(row -> Arrays.copyOfRange(row, first, first + count))
                .toArray(double[][]::new);
    }

    static void add(double[][] x, double[][] y) {
        for (int row = 0; row < x.length; row++) {
            addBias(new double[][] {x[row]}, y[row]);
        }
    }

    static void replaceEach(double[][] x, DoubleUnaryOperator function) {
        for (double[] row : x) {
            Arrays.setAll(row, i -> function.applyAsDouble(row[i]));
        }
    }

    static double[][] copy(double[][] x) {
        return Arrays.stream(x).map(double[]::clone).toArray(double[][]::new);
    }

    /** The tanh form of GELU, arXiv:1606.08415. */
    static double geluTanh(double x) {
        return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * Math.pow(x, 3))));
    }

    /** GELU itself, arXiv:1606.08415. */
    static double gelu(double x) {
        return 0.5 * x * (1 + Float64Erf.erf(x / Math.sqrt(2)));
    }

    /** {@code x sigmoid(x)}, arXiv:1702.03118. */
    static double silu(double x) {
        return x / (1 + Math.exp(-x));
    }

    /** {@code cap tanh(x / cap)}, arXiv:2408.00118; x itself where the cap is infinite. */
    static double softCap(double x, double cap) {
        return Double.isInfinite(cap) ? x : cap * Math.tanh(x / cap);
    }
}
