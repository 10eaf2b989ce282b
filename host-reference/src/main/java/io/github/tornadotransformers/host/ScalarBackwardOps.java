package io.github.tornadotransformers.host;

import static io.github.tornadotransformers.host.ScalarOps.slicedProducts;
import static io.github.tornadotransformers.host.ScalarOps.slicedSum;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;

/** The definition of right for gradients: one plain loop per Op, one thread, in the contract's order. */
public final class ScalarBackwardOps implements BackwardOps {
    @Override
    public void tokenEmbedding(int[] tokens, int rows, int width, int vocabSize, float[] dOut, float[] dTable) {
        for (int r = 0; r < rows; r++) {
            for (int i = 0; i < width; i++) {
                dTable[i * vocabSize + tokens[r]] += dOut[r * width + i];
            }
        }
    }

    @Override
    public void positionEmbedding(int rows, int width, float[] dOut, float[] dTable) {
        for (int i = 0; i < rows * width; i++) {
            dTable[i] += dOut[i];
        }
    }

    @Override
    public void layerNorm(
            float[] x,
            float[] weight,
            float epsilon,
            int rows,
            int width,
            float[] dOut,
            float[] dX,
            float[] dWeight,
            float[] dBias) {
        float[] normal = new float[rows * width];
        for (int r = 0; r < rows; r++) {
            int row = r * width;
            float mean = slicedSum(width, i -> x[row + i]) / width;
            float variance = slicedProducts(width, i -> x[row + i] - mean, i -> x[row + i] - mean) / width;
            float inverse = ScalarOps.inverseRoot(variance, epsilon);
            for (int i = 0; i < width; i++) {
                normal[row + i] = (x[row + i] - mean) * inverse;
            }
            float meanG = slicedProducts(width, i -> dOut[row + i], i -> weight[i]) / width;
            float minusG = ExactMath.negated(meanG);
            float meanGn = slicedProducts(width, i -> dOut[row + i] * weight[i], i -> normal[row + i]) / width;
            float minusGn = ExactMath.negated(meanGn);
            for (int i = 0; i < width; i++) {
                float g = Math.fma(dOut[row + i], weight[i], minusG);
                dX[row + i] = Math.fma(Math.fma(normal[row + i], minusGn, g), inverse, dX[row + i]);
            }
        }
        addProductsOfRows(dOut, normal, rows, width, dWeight);
        linearBias(rows, width, dOut, dBias);
    }

    @Override
    public void rmsNorm(
            float[] x, float[] weight, float epsilon, int rows, int width, float[] dOut, float[] dX, float[] dWeight) {
        float[] normal = new float[rows * width];
        for (int r = 0; r < rows; r++) {
            int row = r * width;
            float meanSquare = slicedProducts(width, i -> x[row + i], i -> x[row + i]) / width;
            float inverse = ScalarOps.inverseRoot(meanSquare, epsilon);
            for (int i = 0; i < width; i++) {
                normal[row + i] = x[row + i] * inverse;
            }
            float meanGn = slicedProducts(width, i -> dOut[row + i] * weight[i], i -> normal[row + i]) / width;
            float minusGn = ExactMath.negated(meanGn);
            for (int i = 0; i < width; i++) {
                float g = ExactMath.product(dOut[row + i], weight[i]);
                dX[row + i] = Math.fma(Math.fma(normal[row + i], minusGn, g), inverse, dX[row + i]);
            }
        }
        addProductsOfRows(dOut, normal, rows, width, dWeight);
    }

    /** {@code sums[i] += sum_r a[r][i] * b[r][i]}, sliced over r. */
    private static void addProductsOfRows(float[] a, float[] b, int rows, int width, float[] sums) {
        for (int i = 0; i < width; i++) {
            int column = i;
            sums[i] += slicedProducts(rows, r -> a[r * width + column], r -> b[r * width + column]);
        }
    }

    @Override
    public void linearInput(HostMatrix weight, int rows, float[] dOut, float[] dX) {
        int inputs = weight.rows();
        int outputs = weight.columns();
        for (int r = 0; r < rows; r++) {
            int row = r * outputs;
            for (int k = 0; k < inputs; k++) {
                int input = k;
                dX[r * inputs + k] += slicedProducts(outputs, c -> dOut[row + c], c -> weight.value(input, c));
            }
        }
    }

    @Override
    public void linearWeight(float[] x, int rows, int inputs, int outputs, float[] dOut, float[] dWeight) {
        for (int k = 0; k < inputs; k++) {
            int input = k;
            for (int c = 0; c < outputs; c++) {
                int output = c;
                dWeight[k * outputs + c] +=
                        slicedProducts(rows, r -> x[r * inputs + input], r -> dOut[r * outputs + output]);
            }
        }
    }

    @Override
    public void linearBias(int rows, int outputs, float[] dOut, float[] dBias) {
        for (int c = 0; c < outputs; c++) {
            int output = c;
            dBias[c] += slicedSum(rows, r -> dOut[r * outputs + output]);
        }
    }

    @Override
    public void activate(Activation activation, int count, float[] x, float[] out) {
        for (int i = 0; i < count; i++) {
            out[i] = ScalarOps.activate(activation, x[i]);
        }
    }

    @Override
    public void activation(Activation activation, int count, float[] x, float[] dOut, float[] dX) {
        for (int i = 0; i < count; i++) {
            dX[i] = switch (activation) {
                case NONE -> dOut[i];
                case GELU_TANH -> dOut[i] * ExactMath.geluTanhSlope(x[i]);
                case SILU, GELU_ERF -> throw BackwardOps.notLearned(activation);
            };
        }
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, int rows, float[] dQkv) {
        int half = table.pairs();
        RotaryTable.Angles angles = table.upTo(rows);
        for (int r = 0; r < rows; r++) {
            for (int head = 0; head < shape.heads() + shape.kvHeads(); head++) {
                int first = r * shape.fusedWidth() + head * shape.headDim();
                for (int i = 0; i < half; i++) {
                    float cosine = angles.cosines()[r * half + i];
                    float sine = angles.sines()[r * half + i];
                    float left = dQkv[first + i];
                    float right = dQkv[first + half + i];
                    dQkv[first + i] = Math.fma(left, cosine, ExactMath.product(right, sine));
                    dQkv[first + half + i] = Math.fma(right, cosine, ExactMath.product(left, -sine));
                }
            }
        }
    }

    @Override
    public void attentionOutput(
            AttentionShape shape,
            float[] probabilities,
            float[] qkv,
            int rows,
            float[] dOut,
            float[] dProbabilities,
            float[] dQkv) {
        int headDim = shape.headDim();
        for (int head = 0; head < shape.heads(); head++) {
            int valueColumn = shape.valueColumn(head);
            int outColumn = head * headDim;
            int row = head * shape.contextLength();
            for (int r = 0; r < rows; r++) {
                int out = r * shape.queryWidth() + outColumn;
                for (int t = 0; t <= r; t++) {
                    int value = t * shape.fusedWidth() + valueColumn;
                    float sum = 0f;
                    for (int d = 0; d < headDim; d++) {
                        sum = Math.fma(dOut[out + d], qkv[value + d], sum);
                    }
                    dProbabilities[r * shape.scoresWidth() + row + t] = sum;
                }
            }
            for (int t = 0; t < rows; t++) {
                int first = row + t;
                for (int d = 0; d < headDim; d++) {
                    int column = outColumn + d;
                    dQkv[t * shape.fusedWidth() + valueColumn + d] += slicedProducts(
                            t,
                            rows,
                            r -> probabilities[r * shape.scoresWidth() + first],
                            r -> dOut[r * shape.queryWidth() + column]);
                }
            }
        }
    }

    @Override
    public void softmax(AttentionShape shape, float[] probabilities, int rows, float[] dScores) {
        for (int r = 0; r < rows; r++) {
            for (int head = 0; head < shape.heads(); head++) {
                int row = (r * shape.heads() + head) * shape.contextLength();
                float sum = slicedProducts(0, r + 1, t -> probabilities[row + t], t -> dScores[row + t]);
                for (int t = 0; t <= r; t++) {
                    dScores[row + t] = probabilities[row + t] * (dScores[row + t] - sum);
                }
            }
        }
    }

    @Override
    public void attentionScores(
            AttentionShape shape, float scale, float[] qkv, int rows, float[] dScores, float[] dQkv) {
        int headDim = shape.headDim();
        int width = shape.fusedWidth();
        for (int head = 0; head < shape.heads(); head++) {
            int row = head * shape.contextLength();
            for (int d = 0; d < headDim; d++) {
                int query = head * headDim + d;
                int key = shape.keyColumn(head) + d;
                for (int r = 0; r < rows; r++) {
                    int scores = r * shape.scoresWidth() + row;
                    float sum = slicedProducts(r + 1, t -> dScores[scores + t], t -> qkv[t * width + key]);
                    dQkv[r * width + query] = Math.fma(sum, scale, dQkv[r * width + query]);
                }
                for (int t = 0; t < rows; t++) {
                    int scores = row + t;
                    float sum = slicedProducts(
                            t, rows, r -> dScores[r * shape.scoresWidth() + scores], r -> qkv[r * width + query]);
                    dQkv[t * width + key] = Math.fma(sum, scale, dQkv[t * width + key]);
                }
            }
        }
    }

    @Override
    public void swiGlu(float[] gateUp, int rows, int width, float[] dOut, float[] dGateUp) {
        for (int r = 0; r < rows; r++) {
            for (int i = 0; i < width; i++) {
                int gate = r * 2 * width + i;
                int up = gate + width;
                float d = dOut[r * width + i];
                dGateUp[gate] = Math.fma(d * gateUp[up], ExactMath.siluSlope(gateUp[gate]), dGateUp[gate]);
                dGateUp[up] = Math.fma(d, ExactMath.silu(gateUp[gate]), dGateUp[up]);
            }
        }
    }

    @Override
    public void selectRows(int count, float[] dOut, float[] dX) {
        for (int i = 0; i < count; i++) {
            dX[i] += dOut[i];
        }
    }

    @Override
    public double crossEntropy(float[] logits, int[] targets, int rows, int vocabSize, float scale, float[] dLogits) {
        double loss = 0;
        for (int r = 0; r < rows; r++) {
            int row = r * vocabSize;
            float max = Float.NEGATIVE_INFINITY;
            for (int c = 0; c < vocabSize; c++) {
                max = Math.max(max, logits[row + c]);
            }
            float logit = logits[row + targets[r]];
            for (int c = 0; c < vocabSize; c++) {
                dLogits[row + c] = ExactMath.exp(logits[row + c] - max);
            }
            float sum = slicedSum(vocabSize, c -> dLogits[row + c]);
            for (int c = 0; c < vocabSize; c++) {
                float p = dLogits[row + c] / sum;
                dLogits[row + c] = (p - (c == targets[r] ? 1f : 0f)) * scale;
            }
            loss += lossOfRow(logit, max, sum);
        }
        return loss;
    }

    /** {@code -log(exp(logit - max) / sum)}, in double. */
    static double lossOfRow(float logit, float max, float sum) {
        return StrictMath.log(sum) + ((double) max - logit);
    }
}
