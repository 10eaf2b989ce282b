package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.kernels.AttentionKernels;
import io.github.tornadotransformers.kernels.CacheKernels;
import io.github.tornadotransformers.kernels.EmbeddingKernels;
import io.github.tornadotransformers.kernels.GatedMlpKernels;
import io.github.tornadotransformers.kernels.KernelMath;
import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.NormKernels;
import io.github.tornadotransformers.kernels.RotaryKernels;
import io.github.tornadotransformers.kernels.ScaleKernels;
import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.taskgraphs.memory.KernelArguments;
import io.github.tornadotransformers.taskgraphs.memory.RotaryKey;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Function;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * The kernels that devices run, called as plain Java: what they cost without a device, and a second pair of eyes on them.
 *
 * <p>Kernels work on TornadoVM's arrays. Each array that is handed in is copied to one of these when it is first seen, and
 * that copy is used from then on, so that runs are timed without copying; {@link #fetch} copies back.
 */
final class KernelOps implements HostOps {
    /** Each array holds one layer. */
    private final IntArray layer = IntArray.fromElements(0);

    /** Of rows without a place; where they have one, it is in {@code places}. */
    private final IntArray live = new IntArray(1);

    private final Map<Place, IntArray> places = new HashMap<>();
    private final FloatArray noFloats = new FloatArray(1);
    private final ShortArray noShorts = new ShortArray(1);

    /** By identity: an array that is written stays the same array. */
    private final IdentityHashMap<Object, Object> copies = new IdentityHashMap<>();

    private final Map<String, FloatArray> scratch = new HashMap<>();

    /** Copies the kernels' array of {@code floats} back, if they have one. */
    void fetch(float[] floats) {
        if (copies.get(floats) instanceof FloatArray copy) {
            MemorySegment.copy(copy.getSegment(), ValueLayout.JAVA_FLOAT, 0, floats, 0, floats.length);
        }
    }

    @SuppressWarnings("unchecked") // a key is only ever copied to one type
    private <K, V> V copy(K original, Function<K, V> maker) {
        return (V) copies.computeIfAbsent(original, key -> maker.apply((K) key));
    }

    private FloatArray floats(float[] values) {
        return copy(values, FloatArray::fromArray);
    }

    private KernelMatrix matrix(HostMatrix matrix) {
        return copy(matrix, KernelMatrix::of);
    }

    private FloatArray scratch(String name, int size) {
        FloatArray known = scratch.get(name);
        if (known == null || known.getSize() < size) {
            known = new FloatArray(size);
            scratch.put(name, known);
        }
        return known;
    }

    /** Rows of one sequence, in a cache of so many positions. */
    private record Place(int firstPosition, int rows, int context) {
        IntArray step() {
            int pages = AttentionShape.pages(context);
            IntArray step = new IntArray(Math.toIntExact(Step.size(rows, pages)));
            Step.setSequence(step, firstPosition, rows, rows, pages);
            return step;
        }
    }

    /** Where the rows of a sequence stand; their pages follow each other. */
    private IntArray step(BatchRows batch, int context) {
        return places.computeIfAbsent(new Place(batch.position(0), batch.count(), context), Place::step);
    }

    private IntArray step(int rows) {
        live.set(Step.ROWS, rows);
        return live;
    }

    private static KvLayer cache(BatchRows batch) {
        return batch.spans().getFirst().cache();
    }

    private FloatArray keys(BatchRows batch) {
        return floats(cache(batch).keys());
    }

    private FloatArray values(BatchRows batch) {
        return floats(cache(batch).values());
    }

    @Override
    public void tokenEmbedding(HostMatrix table, float scale, int[] tokens, int rows, float[] out) {
        IntArray step = step(rows);
        KernelMatrix w = matrix(table);
        EmbeddingKernels.lookUpTokens(
                copy(tokens, IntArray::fromArray),
                w.floats(),
                w.words(),
                w.scales(),
                w.powers(),
                step,
                floats(out),
                w.format(),
                rows,
                table.rows(),
                table.columns(),
                scale);
    }

    @Override
    public void positionEmbedding(float[] table, BatchRows rows, int width, float[] out) {
        IntArray step = step(rows, rows.end());
        EmbeddingKernels.addPositions(floats(table), step, floats(out), rows.count(), width);
    }

    @Override
    public void layerNorm(float[] x, float[] weight, float[] bias, float epsilon, int rows, int width, float[] out) {
        IntArray step = step(rows);
        FloatArray sums = scratch("sums", rows * Slices.count(width));
        FloatArray deviations = scratch("deviations", rows * Slices.count(width));
        FloatArray in = floats(x);
        NormKernels.sliceSums(in, step, sums, rows, width);
        NormKernels.sliceDeviations(in, sums, step, deviations, rows, width, KernelMath.STRICT);
        NormKernels.layerNorm(
                in,
                sums,
                deviations,
                floats(weight),
                floats(bias),
                layer,
                step,
                floats(out),
                rows,
                width,
                epsilon,
                KernelMath.STRICT);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the same array, not an equal one, is in place
    public void rmsNorm(
            Groups groups, float[] x, float[] weight, float epsilon, Residual residual, int rows, float[] out) {
        IntArray step = step(rows);
        int size = groups.size();
        FloatArray squares = scratch("sums", rows * groups.count() * Slices.count(size));
        NormKernels.sliceSquares(
                floats(x), step, squares, rows, groups.rowWidth(), groups.firstColumn(), groups.count(), size);
        if (x == out) {
            NormKernels.rmsNormInPlace(
                    squares,
                    floats(weight),
                    layer,
                    step,
                    floats(out),
                    rows,
                    groups.rowWidth(),
                    groups.firstColumn(),
                    groups.count(),
                    size,
                    epsilon,
                    KernelMath.STRICT);
        } else {
            NormKernels.rmsNorm(
                    floats(x),
                    squares,
                    floats(weight),
                    layer,
                    step,
                    floats(out),
                    rows,
                    groups.count(),
                    size,
                    epsilon,
                    residual.adds() ? 1 : 0,
                    residual.scale(),
                    KernelMath.STRICT);
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
        IntArray step = step(rows);
        int inputs = weight.rows();
        int columns = weight.columns();
        FloatArray sums = scratch("sums", rows * Slices.count(inputs) * columns);
        KernelMatrix w = matrix(weight);
        if (rows == 1) {
            LinearKernels.sliceSums(
                    floats(x), w.floats(), w.words(), w.scales(), w.powers(), layer, sums, w.format(), inputs, columns);
        } else {
            LinearTileKernels.tileSums(
                    floats(x),
                    w.floats(),
                    w.words(),
                    w.scales(),
                    w.powers(),
                    layer,
                    step,
                    sums,
                    w.format(),
                    rows,
                    inputs,
                    columns);
        }
        LinearKernels.finish(
                sums,
                bias == null ? noFloats : floats(bias),
                layer,
                step,
                floats(out),
                rows,
                Slices.count(inputs),
                columns,
                bias == null ? 0 : 1,
                KernelArguments.activation(activation),
                residual.adds() ? 1 : 0,
                residual.scale(),
                KernelMath.STRICT);
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, BatchRows rows, float[] qkv) {
        IntArray step = step(rows, table.positions());
        RotaryKernels.rotatePairs(
                copy(table, KernelOps::angles),
                step,
                floats(qkv),
                rows.count(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                table.pairs(),
                table.positions());
    }

    private static FloatArray angles(RotaryTable table) {
        FloatArray angles = new FloatArray(2 * table.size());
        new RotaryKey(table).fill(angles);
        return angles;
    }

    @Override
    public void cacheAppend(AttentionShape shape, BatchRows rows, float[] qkv) {
        IntArray step = step(rows, shape.contextLength());
        CacheKernels.append(
                floats(qkv),
                layer,
                step,
                keys(rows),
                values(rows),
                noShorts,
                noShorts,
                noFloats,
                rows.count(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                AttentionShape.pages(shape.contextLength()),
                WeightFormat.F32);
    }

    @Override
    public void attentionScores(AttentionShape shape, Scaling scaling, BatchRows rows, float[] qkv, float[] scores) {
        IntArray step = step(rows, shape.contextLength());
        AttentionKernels.scaledScores(
                floats(qkv),
                keys(rows),
                noShorts,
                noFloats,
                layer,
                step,
                floats(scores),
                rows.count(),
                shape.heads(),
                shape.headsPerKvHead(),
                shape.headDim(),
                shape.contextLength(),
                AttentionShape.pages(shape.contextLength()),
                WeightFormat.F32,
                KernelArguments.window(shape),
                scaling.factor(),
                KernelArguments.cap(scaling),
                KernelArguments.inverseCap(scaling),
                KernelMath.STRICT);
    }

    @Override
    public void softmax(AttentionShape shape, BatchRows rows, float[] scores) {
        int context = shape.contextLength();
        IntArray step = step(rows, context);
        int slices = rows.count() * shape.heads() * Slices.count(context);
        FloatArray maxima = scratch("maxima", slices);
        FloatArray sums = scratch("sums", slices);
        FloatArray in = floats(scores);
        int heads = shape.heads();
        int window = KernelArguments.window(shape);
        AttentionKernels.sliceMaxima(in, step, maxima, rows.count(), heads, context, window);
        AttentionKernels.sliceExponentials(
                in, maxima, step, sums, rows.count(), heads, context, window, KernelMath.STRICT);
        AttentionKernels.divideByTotals(sums, step, in, rows.count(), heads, context, window, KernelMath.STRICT);
    }

    @Override
    public void attentionOutput(AttentionShape shape, BatchRows rows, float[] probabilities, float[] out) {
        int context = shape.contextLength();
        IntArray step = step(rows, context);
        FloatArray sums = scratch("sums", rows.count() * Slices.count(context) * shape.queryWidth());
        AttentionKernels.sliceOutputs(
                floats(probabilities),
                values(rows),
                noShorts,
                noFloats,
                layer,
                step,
                sums,
                rows.count(),
                shape.heads(),
                shape.headsPerKvHead(),
                shape.headDim(),
                context,
                AttentionShape.pages(context),
                WeightFormat.F32,
                KernelArguments.window(shape));
        AttentionKernels.finishOutputs(
                sums,
                step,
                floats(out),
                rows.count(),
                shape.heads(),
                shape.headDim(),
                context,
                KernelArguments.window(shape));
    }

    @Override
    public void gatedMlp(Activation activation, float[] gateUp, int rows, int width, float[] out) {
        IntArray step = step(rows);
        GatedMlpKernels.gatedMlp(
                floats(gateUp),
                step,
                floats(out),
                rows,
                width,
                KernelArguments.activation(activation),
                KernelMath.STRICT);
    }

    @Override
    public void scale(Scaling scaling, int count, float[] x) {
        IntArray step = step(1);
        ScaleKernels.scale(
                floats(x),
                step,
                1,
                count,
                scaling.factor(),
                KernelArguments.cap(scaling),
                KernelArguments.inverseCap(scaling),
                KernelMath.STRICT);
    }

    @Override
    public void close() {
        copies.clear();
    }
}
