package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;

/**
 * The definition of right: one plain loop per Op, one thread, in the contract's order. Speed is no concern here.
 *
 * <p>A <em>sliced</em> sum cuts its index range at multiples of {@link HostOps#SLICE}, sums each slice left to right from
 * {@code 0f}, then sums the slices left to right from {@code 0f}. A product is fused into the sum that it joins.
 */
public final class ScalarOps implements HostOps {
    @Override
    public void tokenEmbedding(HostMatrix table, float scale, int[] tokens, int rows, float[] out) {
        int width = table.rows();
        for (int r = 0; r < rows; r++) {
            for (int i = 0; i < width; i++) {
                out[r * width + i] = table.value(i, tokens[r]) * scale;
            }
        }
    }

    @Override
    public void positionEmbedding(float[] table, BatchRows rows, int width, float[] out) {
        for (int r = 0; r < rows.count(); r++) {
            for (int i = 0; i < width; i++) {
                out[r * width + i] += table[rows.position(r) * width + i];
            }
        }
    }

    @Override
    public void layerNorm(float[] x, float[] weight, float[] bias, float epsilon, int rows, int width, float[] out) {
        for (int r = 0; r < rows; r++) {
            int row = r * width;
            float mean = slicedSum(width, i -> x[row + i]) / width;
            float variance = slicedProducts(width, i -> x[row + i] - mean, i -> x[row + i] - mean) / width;
            float inverse = inverseRoot(variance, epsilon);
            for (int i = 0; i < width; i++) {
                out[row + i] = Math.fma((x[row + i] - mean) * inverse, weight[i], bias[i]);
            }
        }
    }

    @Override
    public void rmsNorm(
            Groups groups, float[] x, float[] weight, float epsilon, Residual residual, int rows, float[] out) {
        int size = groups.size();
        for (int r = 0; r < rows; r++) {
            for (int group = 0; group < groups.count(); group++) {
                int first = groups.first(r, group);
                float meanSquare = slicedProducts(size, i -> x[first + i], i -> x[first + i]) / size;
                float inverse = inverseRoot(meanSquare, epsilon);
                for (int i = 0; i < size; i++) {
                    float y = ExactMath.product(weight[i], x[first + i] * inverse);
                    out[first + i] = join(residual, out[first + i], y);
                }
            }
        }
    }

    @Override
    public void linear(
            float[] x,
            HostMatrix weight,
            float[] bias,
            Activation activation,
            Residual residual,
            int rows,
            float[] out) {
        int columns = weight.columns();
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = anyProduct(x, r * weight.rows(), weight, c);
                float y = bias == null ? sum : sum + bias[c];
                y = activate(activation, y);
                out[r * columns + c] = join(residual, out[r * columns + c], y);
            }
        }
    }

    private static float anyProduct(float[] x, int row, HostMatrix weight, int column) {
        return switch (weight.dtype()) {
            case F32, BF16, F16 -> product(x, row, weight, column);
            case INT8 -> quantizedProduct(x, row, weight, column);
            case STORED -> storedProduct(x, row, weight, column);
        };
    }

    private static float storedProduct(float[] x, int row, HostMatrix weight, int column) {
        for (HostColumns columns : weight.apart()) {
            int own = column - columns.firstColumn();
            if (own < columns.columns()) {
                return switch (columns) {
                    case HostColumns.Plain plain -> anyProduct(x, row, plain.matrix(), own);
                    case HostColumns.Blocks blocks -> blockProduct(x, row, blocks.matrix(), own);
                };
            }
        }
        throw new IllegalArgumentException("column " + column + " of " + weight.columns());
    }

    private static float product(float[] x, int row, HostMatrix weight, int column) {
        return slicedProducts(weight.rows(), k -> x[row + k], k -> weight.element(k, column));
    }

    /** As {@link #product}, but what a slice adds is the sum of a block of 32 integers' products, times their scale. */
    private static float quantizedProduct(float[] x, int row, HostMatrix weight, int column) {
        float total = 0f;
        for (int start = 0; start < weight.rows(); start += SLICE) {
            float slice = 0f;
            int end = Math.min(start + SLICE, weight.rows());
            for (int block = start; block < end; block += DType.BLOCK) {
                float sum = 0f;
                for (int k = block; k < Math.min(block + DType.BLOCK, end); k++) {
                    sum = Math.fma(x[row + k], weight.element(k, column), sum);
                }
                slice = Math.fma(sum, weight.scale(block, column), slice);
            }
            total += slice;
        }
        return total;
    }

    /**
     * As {@link #quantizedProduct}, of blocks of a {@link BlockFormat}: a slice adds the sum of a block's products times its scale, and
     * then, where blocks have minima, the sum of its inputs times its minimum.
     */
    private static float blockProduct(float[] x, int row, BlockData weight, int column) {
        int size = weight.format().blockRows();
        int[] quants = new int[size];
        float total = 0f;
        for (int start = 0; start < weight.rows(); start += SLICE) {
            float slice = 0f;
            for (int block = start; block < Math.min(start + SLICE, weight.rows()); block += size) {
                float products = 0f;
                float inputs = 0f;
                weight.quants(block, column, size, quants);
                for (int i = 0; i < size; i++) {
                    products = Math.fma(x[row + block + i], quants[i], products);
                    inputs += x[row + block + i];
                }
                slice = Math.fma(products, weight.scale(block, column), slice);
                if (weight.format().hasMinimum()) {
                    slice = Math.fma(inputs, weight.minimum(block, column), slice);
                }
            }
            total += slice;
        }
        return total;
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, BatchRows rows, float[] qkv) {
        int half = table.pairs();
        RotaryTable.Angles angles = table.upTo(rows.end());
        for (int r = 0; r < rows.count(); r++) {
            for (int head = 0; head < shape.heads() + shape.kvHeads(); head++) {
                int first = r * shape.fusedWidth() + head * shape.headDim();
                for (int i = 0; i < half; i++) {
                    float cosine = angles.cosines()[rows.position(r) * half + i];
                    float sine = angles.sines()[rows.position(r) * half + i];
                    float left = qkv[first + i];
                    float right = qkv[first + half + i];
                    qkv[first + i] = Math.fma(left, cosine, ExactMath.product(right, -sine));
                    qkv[first + half + i] = Math.fma(right, cosine, ExactMath.product(left, sine));
                }
            }
        }
    }

    @Override
    public void cacheAppend(AttentionShape shape, BatchRows rows, float[] qkv) {
        int headDim = shape.headDim();
        for (BatchRows.Span span : rows.spans()) {
            KvLayer cache = span.cache();
            for (int r = 0; r < span.rows(); r++) {
                int position = span.firstPosition() + r;
                int keyRow = (span.firstRow() + r) * shape.fusedWidth() + shape.queryWidth();
                int valueRow = keyRow + shape.keyValueWidth();
                for (int head = 0; head < shape.kvHeads(); head++) {
                    for (int d = 0; d < headDim; d++) {
                        cache.setKeys(head, d, position, 1, qkv, keyRow + head * headDim + d, 1);
                    }
                    cache.setValue(head, position, qkv, valueRow + head * headDim);
                }
            }
        }
    }

    @Override
    public void attentionScores(AttentionShape shape, Scaling scaling, BatchRows rows, float[] qkv, float[] scores) {
        for (BatchRows.Span span : rows.spans()) {
            for (int r = 0; r < span.rows(); r++) {
                int row = span.firstRow() + r;
                int position = span.firstPosition() + r;
                for (int head = 0; head < shape.heads(); head++) {
                    int query = row * shape.fusedWidth() + head * shape.headDim();
                    int target = (row * shape.heads() + head) * shape.contextLength();
                    for (int t = shape.firstVisible(position); t <= position; t++) {
                        float sum = headProduct(shape, qkv, query, span.cache(), head, t);
                        scores[target + t] = scaled(scaling, sum);
                    }
                }
            }
        }
    }

    /** One slice: the product of a query and the key that its head reads at a position. */
    private static float headProduct(
            AttentionShape shape, float[] qkv, int query, KvLayer cache, int head, int position) {
        float sum = 0f;
        for (int d = 0; d < shape.headDim(); d++) {
            sum = Math.fma(qkv[query + d], cache.key(shape.kvHead(head), d, position), sum);
        }
        return sum;
    }

    @Override
    public void softmax(AttentionShape shape, BatchRows rows, float[] scores) {
        for (int r = 0; r < rows.count(); r++) {
            int first = shape.firstVisible(rows.position(r));
            int end = rows.position(r) + 1;
            for (int head = 0; head < shape.heads(); head++) {
                int row = (r * shape.heads() + head) * shape.contextLength();
                float max = Float.NEGATIVE_INFINITY;
                for (int t = first; t < end; t++) {
                    max = Math.max(max, scores[row + t]);
                }
                for (int t = first; t < end; t++) {
                    scores[row + t] = ExactMath.exp(scores[row + t] - max);
                }
                float sum = slicedSum(first, end, t -> scores[row + t]);
                for (int t = first; t < end; t++) {
                    scores[row + t] /= sum;
                }
            }
        }
    }

    @Override
    public void attentionOutput(AttentionShape shape, BatchRows rows, float[] probabilities, float[] out) {
        int headDim = shape.headDim();
        for (BatchRows.Span span : rows.spans()) {
            KvLayer cache = span.cache();
            for (int r = 0; r < span.rows(); r++) {
                int first = shape.firstVisible(span.firstPosition() + r);
                int end = span.firstPosition() + r + 1;
                for (int head = 0; head < shape.heads(); head++) {
                    int kvHead = shape.kvHead(head);
                    int row = (span.firstRow() + r) * shape.heads() + head;
                    int probability = row * shape.contextLength();
                    for (int d = 0; d < headDim; d++) {
                        int column = d;
                        out[row * headDim + d] = slicedProducts(
                                first, end, t -> probabilities[probability + t], t -> cache.value(kvHead, column, t));
                    }
                }
            }
        }
    }

    @Override
    public void gatedMlp(Activation activation, float[] gateUp, int rows, int width, float[] out) {
        for (int r = 0; r < rows; r++) {
            for (int i = 0; i < width; i++) {
                float gate = gateUp[r * 2 * width + i];
                float up = gateUp[r * 2 * width + width + i];
                out[r * width + i] = activate(activation, gate) * up;
            }
        }
    }

    @Override
    public void scale(Scaling scaling, int count, float[] x) {
        for (int i = 0; i < count; i++) {
            x[i] = scaled(scaling, x[i]);
        }
    }

    @Override
    public void close() {}

    /** A term of a sum. */
    interface Term {
        float at(int index);
    }

    static float slicedSum(int length, Term term) {
        return slicedSum(0, length, term);
    }

    /** The sum over {@code [first, end)}; slices begin at multiples of {@link HostOps#SLICE}, not at {@code first}. */
    static float slicedSum(int first, int end, Term term) {
        float total = 0f;
        for (int start = first / SLICE * SLICE; start < end; start += SLICE) {
            float slice = 0f;
            for (int i = Math.max(start, first); i < Math.min(start + SLICE, end); i++) {
                slice += term.at(i);
            }
            total += slice;
        }
        return total;
    }

    static float slicedProducts(int length, Term x, Term y) {
        return slicedProducts(0, length, x, y);
    }

    /** The sliced sum of {@code x * y} over {@code [first, end)}. */
    static float slicedProducts(int first, int end, Term x, Term y) {
        float total = 0f;
        for (int start = first / SLICE * SLICE; start < end; start += SLICE) {
            float slice = 0f;
            for (int i = Math.max(start, first); i < Math.min(start + SLICE, end); i++) {
                slice = Math.fma(x.at(i), y.at(i), slice);
            }
            total += slice;
        }
        return total;
    }

    /** {@code 1 / sqrt(meanSquare + epsilon)}: the sum is rounded, then its inverse root, to which double is near enough. */
    static float inverseRoot(float meanSquare, float epsilon) {
        return (float) (1.0 / Math.sqrt(meanSquare + epsilon));
    }

    static float activate(Activation activation, float x) {
        return switch (activation) {
            case NONE -> x;
            case SILU -> ExactMath.silu(x);
            case GELU_TANH -> ExactMath.geluTanh(x);
            case GELU_ERF -> ExactMath.geluErf(x);
        };
    }

    /** What an output that held {@code before} holds when y has joined it. */
    static float join(Residual residual, float before, float y) {
        return residual.adds() ? Math.fma(residual.scale(), y, before) : y;
    }

    static float scaled(Scaling scaling, float x) {
        float y = x * scaling.factor();
        return scaling.isCapped() ? scaling.cap() * ExactMath.tanh(ExactMath.product(y, scaling.inverseCap())) : y;
    }
}
