package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link ScalarBackwardOps}' bits from the Vector API and all cores, as {@link VectorOps} does it for the way forward. A
 * product that sums over rows reads its left factor transposed; then it is the same panel product as any other.
 */
public final class VectorBackwardOps implements BackwardOps {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;
    private static final int COLUMNS = PanelProduct.COLUMNS;

    /** Columns that are summed over rows, or transposed, as one part. */
    private static final int BLOCK_COLUMNS = 64;

    private final VectorOps forward;
    private float[] normal = {};
    private float[] scratch = {};
    private double[] losses = {};

    /** @param forward whose threads these Ops use */
    public VectorBackwardOps(VectorOps forward) {
        this.forward = forward;
    }

    @Override
    public void tokenEmbedding(int[] tokens, int rows, int width, int vocabSize, float[] dOut, float[] dTable) {
        forward.forEachRow(width, rows, i -> {
            for (int r = 0; r < rows; r++) {
                dTable[i * vocabSize + tokens[r]] += dOut[r * width + i];
            }
        });
    }

    @Override
    public void positionEmbedding(int rows, int width, float[] dOut, float[] dTable) {
        VectorMath.add(dTable, 0, dOut, 0, rows * width);
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
        float[] n = normal(rows * width);
        float[] g = scratch(rows * width);
        forward.forEachRow(rows, width, r -> {
            int row = r * width;
            float mean = SlicedSums.sum(x, row, width) / width;
            float variance = SlicedSums.sumOfSquares(x, row, width, mean) / width;
            float inverse = ScalarOps.inverseRoot(variance, epsilon);
            for (int i = 0; i < width; i++) {
                n[row + i] = (x[row + i] - mean) * inverse;
                g[row + i] = dOut[row + i] * weight[i];
            }
            float meanG = SlicedSums.sumOfProducts(dOut, row, weight, 0, width) / width;
            float minusG = ExactMath.negated(meanG);
            float meanGn = SlicedSums.sumOfProducts(g, row, n, row, width) / width;
            float minusGn = ExactMath.negated(meanGn);
            for (int i = row; i < row + width; i++) {
                float centred = Math.fma(dOut[i], weight[i - row], minusG);
                dX[i] = Math.fma(Math.fma(n[i], minusGn, centred), inverse, dX[i]);
            }
        });
        addProductsOfRows(dOut, n, rows, width, dWeight);
        linearBias(rows, width, dOut, dBias);
    }

    @Override
    public void rmsNorm(
            float[] x, float[] weight, float epsilon, int rows, int width, float[] dOut, float[] dX, float[] dWeight) {
        float[] n = normal(rows * width);
        float[] g = scratch(rows * width);
        forward.forEachRow(rows, width, r -> {
            int row = r * width;
            float meanSquare = SlicedSums.sumOfSquares(x, row, width, 0f) / width;
            float inverse = ScalarOps.inverseRoot(meanSquare, epsilon);
            for (int i = 0; i < width; i++) {
                n[row + i] = x[row + i] * inverse;
                g[row + i] = ExactMath.product(dOut[row + i], weight[i]);
            }
            float meanGn = SlicedSums.sumOfProducts(g, row, n, row, width) / width;
            float minusGn = ExactMath.negated(meanGn);
            for (int i = row; i < row + width; i++) {
                dX[i] = Math.fma(Math.fma(n[i], minusGn, g[i]), inverse, dX[i]);
            }
        });
        addProductsOfRows(dOut, n, rows, width, dWeight);
    }

    /** {@code sums[i] += sum_r a[r][i] * b[r][i]}, sliced over r. */
    private void addProductsOfRows(float[] a, float[] b, int rows, int width, float[] sums) {
        forEachBlockOfColumns(rows, width, (first, count) -> {
            float[] total = new float[count];
            float[] slice = new float[count];
            for (int start = 0; start < rows; start += HostOps.SLICE) {
                Arrays.fill(slice, 0f);
                for (int r = start; r < Math.min(start + HostOps.SLICE, rows); r++) {
                    int row = r * width + first;
                    VectorMath.addProduct(slice, 0, a, row, b, row, count);
                }
                VectorMath.add(total, 0, slice, 0, count);
            }
            VectorMath.add(sums, first, total, 0, count);
        });
    }

    @Override
    public void linearInput(HostMatrix weight, int rows, float[] dOut, float[] dX) {
        int inputs = weight.rows();
        int outputs = weight.columns();
        PackedRows gradients = forward.packed(dOut, rows, outputs);
        forward.run(Math.ceilDiv(inputs, COLUMNS), (worker, part) -> {
            int first = part * COLUMNS;
            int count = Math.min(COLUMNS, inputs - first);
            PanelProduct product = forward.panels(worker);
            float[] line = new float[HostOps.SLICE];
            WidenedRows widenedRows = new WidenedRows();
            product.product(gradients, (c, columns, panel) -> {
                for (int k = 0; k < count; k++) {
                    widenedRows.copy(weight, first + k, 1, c, columns, line, 0, 0);
                    for (int i = 0; i < columns; i++) {
                        panel[i * COLUMNS + k] = line[i];
                    }
                }
            });
            for (int r = 0; r < rows; r++) {
                VectorMath.add(dX, r * inputs + first, product.totals(), r * COLUMNS, count);
            }
        });
    }

    @Override
    public void linearWeight(float[] x, int rows, int inputs, int outputs, float[] dOut, float[] dWeight) {
        PackedRows inputsOfRows = forward.packed(transpose(x, 0, inputs, rows, inputs), inputs, rows);
        forward.run(Math.ceilDiv(outputs, COLUMNS), (worker, part) -> {
            int first = part * COLUMNS;
            int count = Math.min(COLUMNS, outputs - first);
            PanelProduct product = forward.panels(worker);
            product.product(inputsOfRows, PanelSource.rowsOf(dOut, first, outputs, count));
            for (int k = 0; k < inputs; k++) {
                VectorMath.add(dWeight, k * outputs + first, product.totals(), k * COLUMNS, count);
            }
        });
    }

    @Override
    public void linearBias(int rows, int outputs, float[] dOut, float[] dBias) {
        forEachBlockOfColumns(rows, outputs, (first, count) -> {
            float[] total = new float[count];
            float[] slice = new float[count];
            for (int start = 0; start < rows; start += HostOps.SLICE) {
                Arrays.fill(slice, 0f);
                for (int r = start; r < Math.min(start + HostOps.SLICE, rows); r++) {
                    VectorMath.add(slice, 0, dOut, r * outputs + first, count);
                }
                VectorMath.add(total, 0, slice, 0, count);
            }
            VectorMath.add(dBias, first, total, 0, count);
        });
    }

    @Override
    public void activate(Activation activation, int count, float[] x, float[] out) {
        forward.forEachBlock(count, (first, length) -> {
            System.arraycopy(x, first, out, first, length);
            VectorOps.activateRange(activation, out, first, length);
        });
    }

    @Override
    public void activation(Activation activation, int count, float[] x, float[] dOut, float[] dX) {
        forward.forEachBlock(count, (first, length) -> {
            switch (activation) {
                case NONE -> System.arraycopy(dOut, first, dX, first, length);
                case GELU_TANH -> geluGradient(first, length, x, dOut, dX);
                case SILU, GELU_ERF -> throw BackwardOps.notLearned(activation);
            }
        });
    }

    private static void geluGradient(int first, int count, float[] x, float[] dOut, float[] dX) {
        int i = first;
        for (; i <= first + count - LANES; i += LANES) {
            FloatVector.fromArray(FLOATS, dOut, i)
                    .mul(VectorMath.geluTanhSlope(FloatVector.fromArray(FLOATS, x, i)))
                    .intoArray(dX, i);
        }
        for (; i < first + count; i++) {
            dX[i] = dOut[i] * ExactMath.geluTanhSlope(x[i]);
        }
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, int rows, float[] dQkv) {
        int half = table.pairs();
        int rotated = shape.heads() + shape.kvHeads();
        RotaryTable.Angles angles = table.upTo(rows);
        forward.forEachRow(rows, rotated * shape.headDim(), r -> {
            for (int head = 0; head < rotated; head++) {
                rotateBack(dQkv, r * shape.fusedWidth() + head * shape.headDim(), half, angles, r * half);
            }
        });
    }

    private static void rotateBack(float[] x, int first, int half, RotaryTable.Angles angles, int angle) {
        float[] cosines = angles.cosines();
        float[] sines = angles.sines();
        for (int i = 0; i < half; i++) {
            float left = x[first + i];
            float right = x[first + half + i];
            x[first + i] = Math.fma(left, cosines[angle + i], ExactMath.product(right, sines[angle + i]));
            x[first + half + i] = Math.fma(right, cosines[angle + i], ExactMath.product(left, -sines[angle + i]));
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
        int panels = Math.ceilDiv(rows, COLUMNS);
        forward.run(shape.heads() * panels, (worker, part) -> {
            int head = part / panels;
            int first = part % panels * COLUMNS;
            int count = Math.min(COLUMNS, rows - first);
            int value = first * shape.fusedWidth() + shape.valueColumn(head);
            PanelProduct product = forward.panels(worker);
            PanelSource values = PanelSource.columnsOf(qkv, value, shape.fusedWidth(), count);
            product.unslicedProduct(dOut, head * headDim, shape.queryWidth(), first, rows, headDim, values);
            for (int r = first; r < rows; r++) {
                int target = (r * shape.heads() + head) * shape.contextLength() + first;
                System.arraycopy(product.totals(), r * COLUMNS, dProbabilities, target, count);
            }
        });
        float[] out = transpose(dOut, 0, shape.queryWidth(), rows, shape.queryWidth());
        addOverRows(shape, probabilities, rows, out, 1f, shape.valueColumn(0), dQkv);
    }

    @Override
    public void softmax(AttentionShape shape, float[] probabilities, int rows, float[] dScores) {
        int heads = shape.heads();
        forward.forEachRow(rows * heads, rows, part -> {
            int row = part * shape.contextLength();
            int length = part / heads + 1;
            float sum = SlicedSums.sumOfProducts(probabilities, row, dScores, row, length);
            for (int t = row; t < row + length; t++) {
                dScores[t] = probabilities[t] * (dScores[t] - sum);
            }
        });
    }

    @Override
    public void attentionScores(
            AttentionShape shape, float scale, float[] qkv, int rows, float[] dScores, float[] dQkv) {
        int headDim = shape.headDim();
        int width = shape.fusedWidth();
        int panels = Math.ceilDiv(headDim, COLUMNS);
        forward.run(shape.heads() * panels, (worker, part) -> {
            int head = part / panels;
            int first = part % panels * COLUMNS;
            int count = Math.min(COLUMNS, headDim - first);
            PanelProduct product = forward.panels(worker);
            PanelSource keys = PanelSource.rowsOf(qkv, shape.keyColumn(head) + first, width, count);
            product.causalProduct(
                    dScores,
                    head * shape.contextLength(),
                    shape.scoresWidth(),
                    1,
                    AttentionShape.EVERYTHING,
                    rows,
                    keys);
            for (int r = 0; r < rows; r++) {
                int target = r * width + head * headDim + first;
                VectorMath.addScaled(dQkv, target, scale, product.totals(), r * COLUMNS, count);
            }
        });
        float[] queries = transpose(qkv, 0, width, rows, shape.queryWidth());
        addOverRows(shape, dScores, rows, queries, scale, shape.keyColumn(0), dQkv);
    }

    /**
     * {@code dQkv[t][column + h'][d] += (sum_{r >= t} scores[r][h][t] * x[h][d][r]) * scale}, sliced over r, once for each
     * query head h of the key/value head h', in ascending order.
     */
    private void addOverRows(
            AttentionShape shape, float[] scores, int rows, float[] x, float scale, int column, float[] dQkv) {
        int headDim = shape.headDim();
        int group = shape.headsPerKvHead();
        int panels = Math.ceilDiv(rows, COLUMNS);
        forward.run(shape.kvHeads() * panels, (worker, part) -> {
            int kvHead = part / panels;
            int first = part % panels * COLUMNS;
            int count = Math.min(COLUMNS, rows - first);
            PanelProduct product = forward.panels(worker);
            for (int head = kvHead * group; head < (kvHead + 1) * group; head++) {
                PanelSource panel =
                        PanelSource.rowsOf(scores, head * shape.contextLength() + first, shape.scoresWidth(), count);
                product.anticausalProduct(x, head * headDim * rows, rows, headDim, first, rows, panel);
                float[] totals = product.totals();
                for (int t = 0; t < count; t++) {
                    int target = (first + t) * shape.fusedWidth() + column + kvHead * headDim;
                    for (int d = 0; d < headDim; d++) {
                        dQkv[target + d] = Math.fma(totals[d * COLUMNS + t], scale, dQkv[target + d]);
                    }
                }
            }
        });
    }

    @Override
    public void swiGlu(float[] gateUp, int rows, int width, float[] dOut, float[] dGateUp) {
        forward.forEachRow(rows, width, r -> {
            int gate = r * 2 * width;
            int up = gate + width;
            int i = 0;
            for (; i <= width - LANES; i += LANES) {
                FloatVector d = FloatVector.fromArray(FLOATS, dOut, r * width + i);
                FloatVector g = FloatVector.fromArray(FLOATS, gateUp, gate + i);
                d.mul(FloatVector.fromArray(FLOATS, gateUp, up + i))
                        .fma(VectorMath.siluSlope(g), FloatVector.fromArray(FLOATS, dGateUp, gate + i))
                        .intoArray(dGateUp, gate + i);
                d.fma(VectorMath.silu(g), FloatVector.fromArray(FLOATS, dGateUp, up + i))
                        .intoArray(dGateUp, up + i);
            }
            for (; i < width; i++) {
                float d = dOut[r * width + i];
                float dGate = ExactMath.siluSlope(gateUp[gate + i]);
                dGateUp[gate + i] = Math.fma(d * gateUp[up + i], dGate, dGateUp[gate + i]);
                dGateUp[up + i] = Math.fma(d, ExactMath.silu(gateUp[gate + i]), dGateUp[up + i]);
            }
        });
    }

    @Override
    public void selectRows(int count, float[] dOut, float[] dX) {
        VectorMath.add(dX, 0, dOut, 0, count);
    }

    @Override
    public double crossEntropy(float[] logits, int[] targets, int rows, int vocabSize, float scale, float[] dLogits) {
        if (losses.length < rows) {
            losses = new double[rows];
        }
        double[] rowLosses = losses;
        forward.forEachRow(rows, vocabSize, r -> {
            int row = r * vocabSize;
            int target = row + targets[r];
            float max = VectorMath.max(logits, row, vocabSize);
            float logit = logits[target];
            System.arraycopy(logits, row, dLogits, row, vocabSize);
            VectorMath.expOfDifference(dLogits, row, vocabSize, max);
            float sum = SlicedSums.sum(dLogits, row, vocabSize);
            VectorMath.divide(dLogits, row, vocabSize, sum);
            dLogits[target] -= 1f;
            for (int c = row; c < row + vocabSize; c++) {
                dLogits[c] *= scale;
            }
            rowLosses[r] = ScalarBackwardOps.lossOfRow(logit, max, sum);
        });
        double loss = 0;
        for (int r = 0; r < rows; r++) {
            loss += rowLosses[r];
        }
        return loss;
    }

    private void forEachBlockOfColumns(int rows, int columns, VectorOps.RangeLoop loop) {
        forward.forEachPart(Math.ceilDiv(columns, BLOCK_COLUMNS), rows * columns, (worker, part) -> {
            int first = part * BLOCK_COLUMNS;
            loop.run(first, Math.min(BLOCK_COLUMNS, columns - first));
        });
    }

    /** {@code [columns][rows]} of columns of {@code x}, whose rows are {@code stride} apart; until the next call. */
    private float[] transpose(float[] x, int offset, int stride, int rows, int columns) {
        float[] to = scratch(rows * columns);
        int block = LANES;
        forward.forEachPart(Math.ceilDiv(columns, block), rows * columns, (worker, part) -> {
            int first = part * block;
            int end = Math.min(first + block, columns);
            for (int r = 0; r < rows; r++) {
                int from = offset + r * stride;
                for (int c = first; c < end; c++) {
                    to[c * rows + r] = x[from + c];
                }
            }
        });
        return to;
    }

    private float[] normal(int size) {
        if (normal.length < size) {
            normal = new float[size];
        }
        return normal;
    }

    private float[] scratch(int size) {
        if (scratch.length < size) {
            scratch = new float[size];
        }
        return scratch;
    }
}
