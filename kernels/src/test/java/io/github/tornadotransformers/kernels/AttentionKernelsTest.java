package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Rotation, cache and attention: everything that depends on where a row stands in the text. */
class AttentionKernelsTest {
    private static final int LAYERS = 2;

    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    /**
     * Rows of a sequence that follow each other.
     *
     * @param pages the numbers of its pages
     */
    private record Text(int firstRow, int rows, int position, int[] pages) {
        BatchRows batch() {
            return BatchRows.of(position, rows);
        }

        float[] of(float[] rowsOfAll, int width) {
            return Arrays.copyOfRange(rowsOfAll, firstRow * width, (firstRow + rows) * width);
        }

        void put(float[] own, float[] rowsOfAll, int width) {
            System.arraycopy(own, 0, rowsOfAll, firstRow * width, rows * width);
        }
    }

    /** Random heads, and rows of several sequences; rows behind {@code live} are padding. */
    private record Place(
            AttentionShape shape, int rows, int live, List<Text> texts, int pages, int layer, KvType type) {
        static Place of(RandomData data) {
            int kvHeads = data.between(1, 3);
            int heads = kvHeads * data.between(1, 3);
            int context = data.coin() ? data.size(389) : data.between(1, 300);
            return of(new AttentionShape(heads, kvHeads, 2 * data.between(1, 40), context), data);
        }

        static Place of(AttentionShape whole, RandomData data) {
            int context = whole.contextLength();
            AttentionShape shape = data.coin() ? whole : whole.withWindow(data.between(1, context + 1));
            int rows = data.between(1, 9);
            int live = rows == 1 ? 1 : data.between(1, rows);
            List<Text> texts = new ArrayList<>();
            int pagesOfOne = Slices.count(context);
            int[] shuffled = shuffled(live * pagesOfOne + 1, data);
            for (int row = 0; row < live; ) {
                int count = data.between(1, Math.min(live - row, context));
                int firstPage = texts.size() * pagesOfOne;
                int[] pages = Arrays.copyOfRange(shuffled, firstPage, firstPage + pagesOfOne);
                texts.add(new Text(row, count, data.between(0, context - count), pages));
                row += count;
            }
            KvType type = KvType.values()[data.between(0, KvType.values().length - 1)];
            return new Place(shape, rows, live, texts, shuffled.length, data.between(0, LAYERS - 1), type);
        }

        private static int[] shuffled(int count, RandomData data) {
            int[] numbers = IntStream.range(0, count).toArray();
            for (int i = count - 1; i > 0; i--) {
                int other = data.between(0, i);
                int swapped = numbers[i];
                numbers[i] = numbers[other];
                numbers[other] = swapped;
            }
            return numbers;
        }

        IntArray step() {
            int pagesOfOne = Slices.count(shape.contextLength());
            IntArray step = new IntArray((int) Step.size(rows, (long) texts.size() * pagesOfOne));
            step.set(Step.ROWS, live);
            for (int text = 0; text < texts.size(); text++) {
                Text of = texts.get(text);
                int table = Step.firstTable(rows) + text * pagesOfOne;
                for (int row = 0; row < of.rows(); row++) {
                    step.set(Step.position(of.firstRow() + row), of.position() + row);
                    step.set(Step.table(of.firstRow() + row), table);
                }
                for (int page = 0; page < pagesOfOne; page++) {
                    step.set(table + page, of.pages()[page]);
                }
            }
            return step;
        }

        IntArray layerIndex() {
            return KernelArrays.layer(layer);
        }

        int window() {
            return Math.min(shape.window(), shape.contextLength());
        }

        int slices() {
            return Slices.count(shape.contextLength());
        }

        /** A cache of each sequence as the oracle has it. */
        List<float[]> caches(RandomData data) {
            return texts.stream()
                    .map(_ -> KvPool.rounded(type, data.wildFloats((int) shape.cacheLayerSize())))
                    .toList();
        }

        /** The pages of all sequences in one array of several layers; NaN where there is none. */
        KvPool pool(List<float[]> caches) {
            int size = (int) shape.cacheLayerSize(1);
            FloatArray pool = KernelArrays.nan(LAYERS * pages * size);
            for (int text = 0; text < caches.size(); text++) {
                for (int page = 0; page < slices(); page++) {
                    int to = (layer * pages + texts.get(text).pages()[page]) * size;
                    for (int i = 0; i < size; i++) {
                        pool.set(to + i, caches.get(text)[page * size + i]);
                    }
                }
            }
            return KvPool.of(type, pool);
        }

        @Override
        public String toString() {
            return type + ", " + shape + ", " + live + " of " + rows + " rows, " + texts.size() + " sequences";
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rotate(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        int pairs = data.coin() ? shape.headDim() / 2 : data.between(1, shape.headDim() / 2);
        double[] frequencies = IntStream.range(0, pairs)
                .mapToDouble(i -> Math.pow(10000, -2.0 * i / shape.headDim()))
                .toArray();
        RotaryTable table = RotaryTable.of(frequencies, 1, shape.contextLength());
        float[] expected = data.wildFloats(place.rows() * shape.fusedWidth());
        FloatArray actual = FloatArray.fromArray(expected);
        for (Text text : place.texts()) {
            float[] qkv = text.of(expected, shape.fusedWidth());
            oracle.rotary(shape, table, text.batch(), qkv);
            text.put(qkv, expected, shape.fusedWidth());
        }
        RotaryKernels.rotatePairs(
                KernelArrays.angles(table),
                place.step(),
                actual,
                place.rows(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                pairs,
                table.positions());
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void append(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] qkv = data.wildFloats(place.rows() * shape.fusedWidth());
        List<float[]> expectedKeys = new ArrayList<>(place.caches(data));
        List<float[]> expectedValues = new ArrayList<>(place.caches(data));
        KvPool keys = place.pool(expectedKeys);
        KvPool values = place.pool(expectedValues);
        for (int i = 0; i < place.texts().size(); i++) {
            Text text = place.texts().get(i);
            KvLayer cache = KvLayer.contiguous(shape, expectedKeys.get(i), expectedValues.get(i));
            oracle.cacheAppend(
                    shape, BatchRows.of(text.position(), text.rows(), cache), text.of(qkv, shape.fusedWidth()));
        }
        CacheKernels.append(
                FloatArray.fromArray(qkv),
                place.layerIndex(),
                place.step(),
                keys.floats(),
                values.floats(),
                keys.shorts(),
                values.shorts(),
                keys.bounds(),
                place.rows(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                place.pages(),
                keys.format());
        expectedKeys.replaceAll(own -> KvPool.rounded(place.type(), own));
        expectedValues.replaceAll(own -> KvPool.rounded(place.type(), own));
        Bits.assertSame(
                "keys " + place, keys.toHeapArray(), place.pool(expectedKeys).toHeapArray());
        Bits.assertSame(
                "values " + place,
                values.toHeapArray(),
                place.pool(expectedValues).toHeapArray());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void scores(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] qkv = data.wildFloats(place.rows() * shape.fusedWidth());
        List<float[]> keys = place.caches(data);
        float[] expected = new float[place.rows() * shape.scoresWidth()];
        Arrays.fill(expected, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        boolean capped = data.coin();
        Scaling scaling = capped ? Scaling.by(0.3f).capped(7f) : Scaling.by(0.3f);
        for (int i = 0; i < place.texts().size(); i++) {
            Text text = place.texts().get(i);
            KvLayer cache = KvLayer.contiguous(shape, keys.get(i), new float[0]);
            float[] scores = text.of(expected, shape.scoresWidth());
            BatchRows batch = BatchRows.of(text.position(), text.rows(), cache);
            oracle.attentionScores(shape, scaling, batch, text.of(qkv, shape.fusedWidth()), scores);
            text.put(scores, expected, shape.scoresWidth());
        }
        KvPool pool = place.pool(keys);
        AttentionKernels.scaledScores(
                FloatArray.fromArray(qkv),
                pool.floats(),
                pool.shorts(),
                pool.powers(),
                place.layerIndex(),
                place.step(),
                actual,
                place.rows(),
                shape.heads(),
                shape.headsPerKvHead(),
                shape.headDim(),
                shape.contextLength(),
                place.pages(),
                pool.format(),
                place.window(),
                0.3f,
                capped ? 7f : 0f,
                scaling.inverseCap(),
                KernelMath.STRICT);
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void softmax(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] expected = data.floats(place.rows() * shape.scoresWidth());
        for (int i = 0; i < expected.length; i++) {
            expected[i] *= data.coin() ? 1f : 60f;
        }
        float[] scores = expected.clone();
        for (Text text : place.texts()) {
            float[] own = text.of(expected, shape.scoresWidth());
            oracle.softmax(shape, text.batch(), own);
            text.put(own, expected, shape.scoresWidth());
        }
        // NaN spoils a sum, but never wins a maximum.
        for (float stale : new float[] {Float.NaN, Float.MAX_VALUE}) {
            for (boolean inGroups : new boolean[] {false, true}) {
                FloatArray actual = FloatArray.fromArray(scores);
                softmax(place, actual, stale, inGroups);
                Bits.assertSame(place + " over " + stale, actual.toHeapArray(), expected);
            }
        }
    }

    /** In one of more slices than a group has items. */
    @Test
    void theLargestScoreIsFoundBehindManySlices() {
        int[] pages = IntStream.range(0, 131).toArray();
        AttentionShape shape = new AttentionShape(1, 1, 2, pages.length * Slices.SIZE);
        Text text = new Text(0, 1, shape.contextLength() - 1, pages);
        float[] expected = new RandomData(1).floats(shape.scoresWidth());
        expected[text.position()] = 60f;
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.softmax(shape, text.batch(), expected);
        softmax(new Place(shape, 1, 1, List.of(text), pages.length, 0, KvType.F32), actual, Float.NaN, true);
        Bits.assertSame("probabilities", actual.toHeapArray(), expected);
    }

    /** @param stale what earlier runs have left where slices' maxima and sums go */
    private static void softmax(Place place, FloatArray scores, float stale, boolean inGroups) {
        int rows = place.rows();
        int heads = place.shape().heads();
        int context = place.shape().contextLength();
        int window = place.window();
        FloatArray maxima = KernelArrays.filled(rows * heads * place.slices(), stale);
        FloatArray sums = KernelArrays.filled(maxima.getSize(), stale);
        AttentionKernels.sliceMaxima(scores, place.step(), maxima, rows, heads, context, window);
        if (inGroups) {
            int groups = maxima.getSize();
            WorkGroups.run(
                    groups,
                    SoftmaxGroupKernels.GROUP,
                    item -> SoftmaxGroupKernels.sliceExponentials(
                            item, scores, maxima, place.step(), sums, heads, context, window, KernelMath.STRICT));
        } else {
            AttentionKernels.sliceExponentials(
                    scores, maxima, place.step(), sums, rows, heads, context, window, KernelMath.STRICT);
        }
        AttentionKernels.divideByTotals(sums, place.step(), scores, rows, heads, context, window, KernelMath.STRICT);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void outputs(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] probabilities = data.wildFloats(place.rows() * shape.scoresWidth());
        List<float[]> values = place.caches(data);
        float[] expected = new float[place.rows() * shape.queryWidth()];
        Arrays.fill(expected, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        for (int i = 0; i < place.texts().size(); i++) {
            Text text = place.texts().get(i);
            KvLayer cache = KvLayer.contiguous(shape, new float[0], values.get(i));
            float[] out = text.of(expected, shape.queryWidth());
            BatchRows batch = BatchRows.of(text.position(), text.rows(), cache);
            oracle.attentionOutput(shape, batch, text.of(probabilities, shape.scoresWidth()), out);
            text.put(out, expected, shape.queryWidth());
        }
        FloatArray sums = KernelArrays.nan(place.rows() * shape.queryWidth() * place.slices());
        KvPool pool = place.pool(values);
        AttentionKernels.sliceOutputs(
                FloatArray.fromArray(probabilities),
                pool.floats(),
                pool.shorts(),
                pool.powers(),
                place.layerIndex(),
                place.step(),
                sums,
                place.rows(),
                shape.heads(),
                shape.headsPerKvHead(),
                shape.headDim(),
                shape.contextLength(),
                place.pages(),
                pool.format(),
                place.window());
        AttentionKernels.finishOutputs(
                sums,
                place.step(),
                actual,
                place.rows(),
                shape.heads(),
                shape.headDim(),
                shape.contextLength(),
                place.window());
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void attentionByPages(long seed) {
        RandomData data = new RandomData(seed);
        int kvHeads = data.between(1, 2);
        int heads = kvHeads * data.between(1, 9);
        int headDim = data.coin() ? 2 * data.between(1, 40) : data.between(1, 4) * 64;
        int context = data.coin() ? data.size(389) : data.between(1, 300);
        attentionByPages(Place.of(new AttentionShape(heads, kvHeads, headDim, context), data), data);
    }

    /** More slices than a group has items. */
    @Test
    void attentionByManyPages() {
        RandomData data = new RandomData(1);
        AttentionShape shape = new AttentionShape(2, 1, 2, 131 * Slices.SIZE);
        int[] pages = IntStream.range(0, 131).toArray();
        List<Text> texts = List.of(new Text(0, 1, shape.contextLength() - 7, pages));
        attentionByPages(new Place(shape, 1, 1, texts, 131, 0, KvType.F32), data);
    }

    private void attentionByPages(Place place, RandomData data) {
        AttentionShape shape = place.shape();
        float[] qkv = data.floats(place.rows() * shape.fusedWidth());
        List<float[]> keys = new ArrayList<>(place.caches(data));
        List<float[]> values = place.caches(data);
        boolean capped = data.coin();
        Scaling scaling = capped ? Scaling.by(0.3f).capped(7f) : Scaling.by(0.3f);
        float[] expected = new float[place.rows() * shape.queryWidth()];
        Arrays.fill(expected, Float.NaN);
        for (int i = 0; i < place.texts().size(); i++) {
            Text text = place.texts().get(i);
            float[] own = keys.get(i);
            for (int k = 0; k < own.length; k++) {
                own[k] = Float.isFinite(own[k]) ? own[k] % 1 : 0;
            }
            keys.set(i, KvPool.rounded(place.type(), own));
            BatchRows batch =
                    BatchRows.of(text.position(), text.rows(), KvLayer.contiguous(shape, keys.get(i), values.get(i)));
            float[] scores = new float[text.rows() * shape.scoresWidth()];
            float[] out = text.of(expected, shape.queryWidth());
            oracle.attentionScores(shape, scaling, batch, text.of(qkv, shape.fusedWidth()), scores);
            oracle.softmax(shape, batch, scores);
            oracle.attentionOutput(shape, batch, scores, out);
            text.put(out, expected, shape.queryWidth());
        }
        KvPool keyPool = place.pool(keys);
        KvPool valuePool = place.pool(values);
        IntArray step = place.step();
        IntArray layer = place.layerIndex();
        int rows = place.rows();
        int heads = shape.heads();
        int headsPerKvHead = shape.headsPerKvHead();
        int headDim = shape.headDim();
        int context = shape.contextLength();
        int window = place.window();
        FloatArray query = FloatArray.fromArray(qkv);
        FloatArray scores = KernelArrays.nan(rows * shape.scoresWidth());
        FloatArray maxima = KernelArrays.filled(rows * heads * place.slices(), Float.MAX_VALUE);
        FloatArray totals = KernelArrays.nan(maxima.getSize());
        FloatArray sums = KernelArrays.nan(rows * shape.queryWidth() * place.slices());
        FloatArray actual = KernelArrays.nan(rows * shape.queryWidth());
        inGroups(
                AttentionGroupKernels.items(rows, heads, headsPerKvHead, context),
                item -> AttentionGroupKernels.scaledScores(
                        item,
                        query,
                        keyPool.floats(),
                        keyPool.shorts(),
                        keyPool.powers(),
                        layer,
                        step,
                        scores,
                        maxima,
                        heads,
                        headsPerKvHead,
                        headDim,
                        context,
                        place.pages(),
                        keyPool.format(),
                        window,
                        0.3f,
                        capped ? 7f : 0f,
                        scaling.inverseCap(),
                        KernelMath.STRICT));
        inGroups(
                (long) maxima.getSize() * SoftmaxGroupKernels.GROUP,
                item -> SoftmaxGroupKernels.sliceExponentials(
                        item, scores, maxima, step, totals, heads, context, window, KernelMath.STRICT));
        inGroups(
                AttentionGroupKernels.items(rows, heads, headsPerKvHead, context),
                item -> AttentionGroupKernels.sliceOutputs(
                        item,
                        scores,
                        totals,
                        valuePool.floats(),
                        valuePool.shorts(),
                        valuePool.powers(),
                        layer,
                        step,
                        sums,
                        heads,
                        headsPerKvHead,
                        headDim,
                        context,
                        place.pages(),
                        valuePool.format(),
                        window,
                        KernelMath.STRICT));
        inGroups(
                AttentionGroupKernels.finishItems(rows, shape.queryWidth()),
                item -> AttentionGroupKernels.finishOutputs(item, sums, step, actual, heads, headDim, context, window));
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    private static void inGroups(long items, Consumer<KernelContext> kernel) {
        int size = AttentionGroupKernels.GROUP;
        WorkGroups.run(Math.toIntExact(items / size), size, kernel);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void gatedMlp(long seed) {
        RandomData data = new RandomData(seed);
        int rows = data.between(1, 9);
        int live = rows == 1 ? 1 : data.between(1, rows);
        int width = data.coin() ? data.size(389) : data.between(500, 1200);
        float[] gateUp = data.wildFloats(rows * 2 * width);
        float[] expected = new float[rows * width];
        Arrays.fill(expected, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        KernelActivation activation = KernelActivation.of(data);
        oracle.gatedMlp(activation.activation(), gateUp, live, width, expected);
        GatedMlpKernels.gatedMlp(
                FloatArray.fromArray(gateUp),
                KernelArrays.live(live),
                actual,
                rows,
                width,
                activation.kernels(),
                KernelMath.STRICT);
        Bits.assertSame("width " + width, actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void scale(long seed) {
        RandomData data = new RandomData(seed);
        int rows = data.between(1, 9);
        int live = rows == 1 ? 1 : data.between(1, rows);
        int width = data.size(389);
        boolean capped = data.coin();
        Scaling scaling = capped ? Scaling.by(0.7f).capped(3f) : Scaling.by(0.7f);
        float[] expected = data.wildFloats(rows * width);
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.scale(scaling, live * width, expected);
        ScaleKernels.scale(
                actual,
                KernelArrays.live(live),
                rows,
                width,
                0.7f,
                capped ? 3f : 0f,
                scaling.inverseCap(),
                KernelMath.STRICT);
        Bits.assertSame(scaling.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void selectCopiesTheRowsWhoseLogitsAreWanted(long seed) {
        RandomData data = new RandomData(seed);
        int all = data.between(1, 9);
        int width = data.size(389);
        int rows = data.between(1, 5);
        int live = data.between(1, rows);
        float[] x = data.wildFloats(all * width);
        float[] expected = new float[rows * width];
        Arrays.fill(expected, Float.NaN);
        IntArray step = new IntArray((int) Step.headSize(rows));
        step.set(Step.ROWS, live);
        for (int row = 0; row < live; row++) {
            int selected = data.between(0, all - 1);
            step.set(Step.selected(row), selected);
            System.arraycopy(x, selected * width, expected, row * width, width);
        }
        FloatArray actual = KernelArrays.nan(rows * width);
        RowKernels.copyRows(FloatArray.fromArray(x), step, actual, rows, width);
        Bits.assertSame(live + " of " + rows, actual.toHeapArray(), expected);
    }
}
