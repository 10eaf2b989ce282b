package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.Arrays;

/**
 * The fast engine without a GPU: {@link ScalarOps}' bits from the Vector API and all cores. A lane owns an output column,
 * so each sum keeps its order; a thread owns a block of columns, heads or rows, so the bits do not depend on how many there
 * are.
 */
public final class VectorOps implements HostOps {
    /** From so many rows of a span on, panels of its keys and values are worth copying. */
    private static final int PANEL_ROWS = 4;

    private static final int PANEL = WeightLayout.PANEL;

    /** So many rows are multiplied with blocks one by one; for more, a panel is widened once. */
    private static final int SWEPT_BLOCKS = 2;

    /** Elements of a matrix that are worth a thread's turn where it is read for few rows. */
    private static final long SWEEP_ELEMENTS = 1 << 15;

    /** What part of its share a thread takes: see {@link #turns}. */
    private static final double TAKEN = 0.75;

    /** Parts of a product that a thread has where rows can be cut, so that threads end at about the same time. */
    private static final int PARTS = 8;

    /** Rows of the smallest block that they are cut into: for each, all of the matrix is read again. */
    private static final int BLOCK_ROWS = 64;

    /** Positions whose scores are summed together: their partial sums stay in the first-level cache. */
    private static final int SCORES = 1024;

    /** Elements that are not worth waking another thread for. */
    private static final int SERIAL_ELEMENTS = 4096;

    private final ThreadTeam team;
    private final Scratch[] scratch;
    private final PackedRows packed = new PackedRows();

    /** @param threads 1 or more; the result does not depend on it */
    public VectorOps(int threads) {
        team = new ThreadTeam(threads);
        scratch = new Scratch[threads];
        for (int i = 0; i < threads; i++) {
            scratch[i] = new Scratch();
        }
    }

    /** As many threads as the machine has processors. */
    public static VectorOps onAllCores() {
        return new VectorOps(Runtime.getRuntime().availableProcessors());
    }

    @Override
    public void close() {
        team.close();
    }

    @Override
    public void tokenEmbedding(HostMatrix table, float scale, int[] tokens, int rows, float[] out) {
        int width = table.rows();
        forEachRow(rows, width, r -> {
            for (int i = 0; i < width; i++) {
                out[r * width + i] = table.value(i, tokens[r]) * scale;
            }
        });
    }

    @Override
    public void positionEmbedding(float[] table, BatchRows rows, int width, float[] out) {
        for (BatchRows.Span span : rows.spans()) {
            VectorMath.add(out, span.firstRow() * width, table, span.firstPosition() * width, span.rows() * width);
        }
    }

    @Override
    public void layerNorm(float[] x, float[] weight, float[] bias, float epsilon, int rows, int width, float[] out) {
        forEachRow(rows, width, r -> {
            int row = r * width;
            float mean = SlicedSums.sum(x, row, width) / width;
            float variance = SlicedSums.sumOfSquares(x, row, width, mean) / width;
            float inverse = ScalarOps.inverseRoot(variance, epsilon);
            for (int i = 0; i < width; i++) {
                out[row + i] = Math.fma((x[row + i] - mean) * inverse, weight[i], bias[i]);
            }
        });
    }

    @Override
    public void rmsNorm(
            Groups groups, float[] x, float[] weight, float epsilon, Residual residual, int rows, float[] out) {
        int size = groups.size();
        int count = groups.count();
        forEachPart(rows * count, rows * count * size, (worker, part) -> {
            int first = groups.first(part / count, part % count);
            float meanSquare = SlicedSums.sumOfSquares(x, first, size, 0f) / size;
            float inverse = ScalarOps.inverseRoot(meanSquare, epsilon);
            if (residual.adds()) {
                float scale = residual.scale();
                for (int i = 0; i < size; i++) {
                    float y = ExactMath.product(weight[i], x[first + i] * inverse);
                    out[first + i] = Math.fma(scale, y, out[first + i]);
                }
            } else {
                for (int i = 0; i < size; i++) {
                    out[first + i] = ExactMath.product(weight[i], x[first + i] * inverse);
                }
            }
        });
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
        Epilogue epilogue = new Epilogue(bias, activation, residual, weight.columns(), 0, out);
        if (weight.dtype() != DType.STORED) {
            multiply(x, weight, rows, epilogue);
            return;
        }
        for (HostColumns columns : weight.apart()) {
            Epilogue own = epilogue.at(columns.firstColumn());
            switch (columns) {
                case HostColumns.Plain plain -> multiply(x, plain.matrix(), rows, own);
                case HostColumns.Blocks blocks -> multiplyBlocks(x, blocks.matrix(), rows, own);
            }
        }
    }

    private void multiply(float[] x, HostMatrix weight, int rows, Epilogue epilogue) {
        if (rows <= sweptRows(weight.dtype())) {
            sweep(x, weight, rows, epilogue);
        } else {
            multiplyPanels(x, weight, rows, epilogue);
        }
    }

    /** Up to so many rows have a sweep over the matrix each. INT8's is bound by instructions, of which tiles have some to spare. */
    private static int sweptRows(DType dtype) {
        return dtype == DType.INT8 ? 2 : 1;
    }

    private void sweep(float[] x, HostMatrix weight, int rows, Epilogue epilogue) {
        int panels = Math.ceilDiv(weight.columns(), PANEL);
        int abreast = PanelSweep.abreast(weight.dtype(), panels / team.size());
        int groups = Math.ceilDiv(panels, abreast);
        int[] starts = turns(groups, (long) weight.rows() * weight.columns(), SWEEP_ELEMENTS, team.size());
        team.run(starts.length - 1, (worker, part) -> {
            for (int group = starts[part]; group < starts[part + 1]; group++) {
                sweepPanels(x, weight, group * abreast * PANEL, abreast, rows, scratch[worker], epilogue);
            }
        });
    }

    private static void sweepPanels(
            float[] x, HostMatrix weight, int column, int abreast, int rows, Scratch scratch, Epilogue epilogue) {
        int panels = 0;
        while (panels < abreast && PanelSweep.takes(weight, column + panels * PANEL)) {
            panels++;
        }
        int rest = column + panels * PANEL;
        int end = Math.min(column + abreast * PANEL, weight.columns());
        for (int r = 0; r < rows; r++) {
            int row = r * weight.rows();
            if (panels > 0) {
                scratch.sweep.product(x, row, weight, column, panels, scratch.totals);
                epilogue.finish(scratch.totals, 1, PanelSweep.COLUMNS, r, column, panels * PANEL);
            }
            if (rest < end) {
                scratch.row.pack(x, row, 1, weight.rows(), VectorOps::runHere);
            }
            for (int first = rest; first < end; first += PANEL) {
                int count = Math.min(PANEL, end - first);
                scratch.panels.product(scratch.row, weight, first, count);
                epilogue.finish(scratch.panels.totals(), 1, PANEL, r, first, count);
            }
        }
    }

    private void multiplyBlocks(float[] x, BlockData weight, int rows, Epilogue epilogue) {
        if (rows <= SWEPT_BLOCKS) {
            for (int r = 0; r < rows; r++) {
                sweepBlocks(x, r, weight, epilogue);
            }
            return;
        }
        PackedRows packed = packed(x, rows, weight.rows());
        if (weight.format().hasMinimum()) {
            packed.sumBlocks();
        }
        team.run(Math.ceilDiv(weight.columns(), PANEL), (worker, part) -> {
            int first = part * PANEL;
            PanelProduct product = scratch[worker].panels;
            product.product(packed, weight, first);
            int count = Math.min(PANEL, weight.columns() - first);
            epilogue.finish(product.totals(), rows, PanelProduct.COLUMNS, 0, first, count);
        });
    }

    private void sweepBlocks(float[] x, int r, BlockData weight, Epilogue epilogue) {
        int offset = r * weight.rows();
        float[] inputs = BlockSweep.blockSums(x, offset, weight.rows(), weight.format());
        int groups = Math.ceilDiv(weight.columns(), BlockSweep.COLUMNS);
        int[] starts = turns(groups, (long) weight.rows() * weight.columns(), SWEEP_ELEMENTS, team.size());
        team.run(starts.length - 1, (worker, part) -> {
            Scratch own = scratch[worker];
            for (int group = starts[part]; group < starts[part + 1]; group++) {
                int first = group * BlockSweep.COLUMNS;
                int count = Math.min(BlockSweep.COLUMNS, weight.columns() - first);
                BlockSweep.product(x, offset, inputs, weight, first, own.totals);
                epilogue.finish(own.totals, 1, BlockSweep.COLUMNS, r, first, count);
            }
        });
    }

    private void multiplyPanels(float[] x, HostMatrix weight, int rows, Epilogue epilogue) {
        int columns = weight.columns();
        PackedRows packed = packed(x, rows, weight.rows());
        int panels = Math.ceilDiv(columns, PanelProduct.COLUMNS);
        int blocks = rowBlocks(rows, panels);
        team.run(blocks * panels, (worker, part) -> {
            int block = part / panels;
            int firstRow = packed.blockStart(block, blocks);
            int endRow = packed.blockStart(block + 1, blocks);
            int first = part % panels * PanelProduct.COLUMNS;
            int count = Math.min(PanelProduct.COLUMNS, columns - first);
            PanelProduct product = scratch[worker].panels;
            product.product(packed, firstRow, endRow, weight, first, count);
            epilogue.finish(product.totals(), endRow - firstRow, PanelProduct.COLUMNS, firstRow, first, count);
        });
    }

    /** How many blocks to cut rows into, where there are few panels for the threads. */
    private int rowBlocks(int rows, int panels) {
        int wanted = team.size() == 1 ? 1 : Math.ceilDiv(PARTS * team.size(), panels);
        return Math.clamp(wanted, 1, Math.max(1, rows / BLOCK_ROWS));
    }

    /** What follows the sum of a linear layer: bias, activation, residual. */
    private record Epilogue(
            float[] bias, Activation activation, Residual residual, int columns, int origin, float[] out) {
        /** The same for columns from {@code first} on, which are counted from there. */
        Epilogue at(int first) {
            return new Epilogue(bias, activation, residual, columns, first, out);
        }

        /**
         * @param totals {@code [rows][stride]}; what they hold is lost
         * @param row where the first of the rows goes
         * @param column of the output, counted from the origin
         */
        void finish(float[] totals, int rows, int stride, int row, int column, int count) {
            int first = origin + column;
            if (bias != null) {
                for (int r = 0; r < rows; r++) {
                    VectorMath.add(totals, r * stride, bias, first, count);
                }
            }
            activateRange(activation, totals, 0, (rows - 1) * stride + count);
            for (int r = 0; r < rows; r++) {
                int target = (row + r) * columns + first;
                if (residual.adds()) {
                    VectorMath.addScaled(out, target, residual.scale(), totals, r * stride, count);
                } else {
                    System.arraycopy(totals, r * stride, out, target, count);
                }
            }
        }
    }

    /** {@code x[i] = activation(x[i])}. */
    static void activateRange(Activation activation, float[] x, int offset, int count) {
        switch (activation) {
            case NONE -> {}
            case SILU -> VectorMath.silu(x, offset, count);
            case GELU_TANH -> VectorMath.geluTanh(x, offset, count);
            case GELU_ERF -> VectorMath.geluErf(x, offset, count);
        }
    }

    @Override
    public void rotary(AttentionShape shape, RotaryTable table, BatchRows rows, float[] qkv) {
        int half = table.pairs();
        int rotated = shape.heads() + shape.kvHeads();
        RotaryTable.Angles angles = table.upTo(rows.end());
        forEachRow(rows.count(), rotated * shape.headDim(), r -> {
            int angle = rows.position(r) * half;
            for (int head = 0; head < rotated; head++) {
                rotate(qkv, r * shape.fusedWidth() + head * shape.headDim(), half, angles, angle);
            }
        });
    }

    private static void rotate(float[] x, int first, int half, RotaryTable.Angles angles, int angle) {
        float[] cosines = angles.cosines();
        float[] sines = angles.sines();
        for (int i = 0; i < half; i++) {
            float left = x[first + i];
            float right = x[first + half + i];
            x[first + i] = Math.fma(left, cosines[angle + i], ExactMath.product(right, -sines[angle + i]));
            x[first + half + i] = Math.fma(right, cosines[angle + i], ExactMath.product(left, sines[angle + i]));
        }
    }

    @Override
    public void cacheAppend(AttentionShape shape, BatchRows rows, float[] qkv) {
        int heads = shape.kvHeads();
        forEachPart(rows.spans().size() * heads, rows.count() * shape.keyValueWidth(), (worker, part) -> {
            BatchRows.Span span = rows.spans().get(part / heads);
            int end;
            for (int first = span.firstPosition(); first < span.end(); first = end) {
                end = Math.min(span.end(), span.cache().pageEnd(first));
                append(shape, span, part % heads, first, end - first, qkv);
            }
        });
    }

    /** Positions of one page. */
    private static void append(
            AttentionShape shape, BatchRows.Span span, int kvHead, int first, int count, float[] qkv) {
        int headDim = shape.headDim();
        int width = shape.fusedWidth();
        KvLayer cache = span.cache();
        int row = span.firstRow() + first - span.firstPosition();
        int key = row * width + shape.queryWidth() + kvHead * headDim;
        for (int d = 0; d < headDim; d++) {
            cache.setKeys(kvHead, d, first, count, qkv, key + d, width);
        }
        int value = key + shape.keyValueWidth();
        for (int r = 0; r < count; r++) {
            cache.setValue(kvHead, first + r, qkv, value + r * width);
        }
    }

    @Override
    public void attentionScores(AttentionShape shape, Scaling scaling, BatchRows rows, float[] qkv, float[] scores) {
        forEachShortSpan(shape, rows, (worker, span, head) -> {
            float[] sums = scratch[worker].totals;
            for (int r = 0; r < span.rows(); r++) {
                sweepScores(shape, scaling, span, r, head, qkv, scores, sums, scratch[worker].rows);
            }
        });
        for (BatchRows.Span span : rows.spans()) {
            if (span.rows() >= PANEL_ROWS) {
                multiplyScores(shape, scaling, span, qkv, scores);
            }
        }
    }

    private static void sweepScores(
            AttentionShape shape,
            Scaling scaling,
            BatchRows.Span span,
            int r,
            int head,
            float[] qkv,
            float[] scores,
            float[] sums,
            KvRows keys) {
        int headDim = shape.headDim();
        KvLayer cache = span.cache();
        int row = span.firstRow() + r;
        int query = row * shape.fusedWidth() + head * headDim;
        int target = (row * shape.heads() + head) * shape.contextLength();
        int end = span.firstPosition() + r + 1;
        int count;
        for (int first = shape.firstVisible(end - 1); first < end; first += count) {
            count = Math.min(SCORES, Math.min(end, cache.pageEnd(first)) - first);
            Arrays.fill(sums, 0, count, 0f);
            cache.showKeys(shape.kvHead(head), first, count, keys);
            RowSweep.addArrayRows(qkv, query, headDim, keys.elements(), keys.first(), keys.stride(), count, sums);
            VectorMath.scale(scaling, sums, 0, scores, target + first, count);
        }
    }

    /** Panels begin at multiples of their width, so that none crosses the end of a page. */
    private void multiplyScores(
            AttentionShape shape, Scaling scaling, BatchRows.Span span, float[] qkv, float[] scores) {
        int headDim = shape.headDim();
        KvLayer cache = span.cache();
        int firstPosition = span.firstPosition();
        int rows = span.rows();
        int origin = shape.firstVisible(firstPosition);
        int firstPanel = origin / PanelProduct.COLUMNS;
        int panels = Math.ceilDiv(span.end(), PanelProduct.COLUMNS) - firstPanel;
        team.run(shape.heads() * panels, (worker, part) -> {
            int head = part / panels;
            int panelStart = (firstPanel + part % panels) * PanelProduct.COLUMNS;
            int first = Math.max(origin, panelStart);
            int count = Math.min(panelStart + PanelProduct.COLUMNS, span.end()) - first;
            int firstRow = Math.max(0, first - firstPosition);
            int endRow = shape.rowsSeeing(first + count - 1, firstPosition, rows);
            KvRows keys = scratch[worker].rows;
            cache.showKeys(shape.kvHead(head), first, count, keys);
            PanelProduct product = scratch[worker].panels;
            PanelSource panel = PanelSource.rowsOf(keys.elements(), keys.first(), keys.stride(), count);
            int query = span.firstRow() * shape.fusedWidth() + head * headDim;
            product.unslicedProduct(qkv, query, shape.fusedWidth(), firstRow, endRow, headDim, panel);
            float[] sums = product.totals();
            for (int r = firstRow; r < endRow; r++) {
                int target = ((span.firstRow() + r) * shape.heads() + head) * shape.contextLength() + first;
                VectorMath.scale(scaling, sums, r * PanelProduct.COLUMNS, scores, target, count);
            }
        });
    }

    @Override
    public void softmax(AttentionShape shape, BatchRows rows, float[] scores) {
        int heads = shape.heads();
        int parts = rows.count() * heads;
        forEachPart(parts, parts * shape.visible(rows.end() - 1), (worker, part) -> {
            int position = rows.position(part / heads);
            int first = shape.firstVisible(position);
            int length = position + 1 - first;
            int row = part * shape.contextLength() + first;
            VectorMath.expOfDifference(scores, row, length, VectorMath.max(scores, row, length));
            VectorMath.divide(scores, row, length, SlicedSums.sum(scores, row - first, first, position + 1));
        });
    }

    @Override
    public void attentionOutput(AttentionShape shape, BatchRows rows, float[] probabilities, float[] out) {
        forEachShortSpan(shape, rows, (worker, span, head) -> {
            float[] slice = scratch[worker].headSlice(shape.headDim());
            for (int r = 0; r < span.rows(); r++) {
                sweepValues(shape, span, r, head, probabilities, out, slice, scratch[worker].rows);
            }
        });
        for (BatchRows.Span span : rows.spans()) {
            if (span.rows() >= PANEL_ROWS) {
                multiplyValues(shape, span, probabilities, out);
            }
        }
    }

    private static void sweepValues(
            AttentionShape shape,
            BatchRows.Span span,
            int r,
            int head,
            float[] probabilities,
            float[] out,
            float[] slice,
            KvRows values) {
        int headDim = shape.headDim();
        KvLayer cache = span.cache();
        int row = (span.firstRow() + r) * shape.heads() + head;
        int probability = row * shape.contextLength();
        int target = row * headDim;
        int end = span.firstPosition() + r + 1;
        Arrays.fill(out, target, target + headDim, 0f);
        int count;
        for (int start = shape.firstVisible(end - 1); start < end; start += count) {
            count = Math.min(SLICE - start % SLICE, end - start);
            Arrays.fill(slice, 0, headDim, 0f);
            cache.showValues(shape.kvHead(head), start, count, 0, headDim, values);
            RowSweep.addArrayRows(
                    probabilities,
                    probability + start,
                    count,
                    values.elements(),
                    values.first(),
                    values.stride(),
                    headDim,
                    slice);
            VectorMath.add(out, target, slice, 0, headDim);
        }
    }

    private void multiplyValues(AttentionShape shape, BatchRows.Span span, float[] probabilities, float[] out) {
        int headDim = shape.headDim();
        int panels = Math.ceilDiv(headDim, PanelProduct.COLUMNS);
        team.run(shape.heads() * panels, (worker, part) -> {
            int head = part / panels;
            int first = part % panels * PanelProduct.COLUMNS;
            int count = Math.min(PanelProduct.COLUMNS, headDim - first);
            PanelProduct product = scratch[worker].panels;
            PanelSource panel =
                    PanelSource.valuesOf(span.cache(), shape.kvHead(head), first, count, scratch[worker].rows);
            product.causalProduct(
                    probabilities,
                    span.firstRow() * shape.scoresWidth() + head * shape.contextLength(),
                    shape.scoresWidth(),
                    span.firstPosition() + 1,
                    shape.window(),
                    span.rows(),
                    panel);
            for (int r = 0; r < span.rows(); r++) {
                int target = ((span.firstRow() + r) * shape.heads() + head) * headDim + first;
                System.arraycopy(product.totals(), r * PanelProduct.COLUMNS, out, target, count);
            }
        });
    }

    /** A loop over one head's rows of a span. */
    private interface HeadLoop {
        void run(int worker, BatchRows.Span span, int head);
    }

    /** Every head of every span with so few rows that panels are not worth copying for them. */
    private void forEachShortSpan(AttentionShape shape, BatchRows rows, HeadLoop loop) {
        int heads = shape.heads();
        long elements = 0;
        for (BatchRows.Span span : rows.spans()) {
            elements += span.rows() < PANEL_ROWS ? (long) span.rows() * heads * shape.visible(span.end() - 1) : 0;
        }
        if (elements > 0) {
            forEachPart(rows.spans().size() * heads, Math.clamp(elements, 0, Integer.MAX_VALUE), (worker, part) -> {
                BatchRows.Span span = rows.spans().get(part / heads);
                if (span.rows() < PANEL_ROWS) {
                    loop.run(worker, span, part % heads);
                }
            });
        }
    }

    @Override
    public void gatedMlp(Activation activation, float[] gateUp, int rows, int width, float[] out) {
        forEachRow(rows, width, r -> {
            System.arraycopy(gateUp, r * 2 * width, out, r * width, width);
            activateRange(activation, out, r * width, width);
            VectorMath.multiply(out, r * width, gateUp, (2 * r + 1) * width, width);
        });
    }

    @Override
    public void scale(Scaling scaling, int count, float[] x) {
        forEachBlock(count, (first, length) -> VectorMath.scale(scaling, x, first, x, first, length));
    }

    /** A loop over rows. */
    interface RowLoop {
        void run(int row);
    }

    /** A loop over a range of elements. */
    interface RangeLoop {
        void run(int first, int count);
    }

    /** Cuts {@code count} elements into blocks that are worth waking a thread for. */
    void forEachBlock(int count, RangeLoop loop) {
        int blocks = Math.ceilDiv(count, SERIAL_ELEMENTS);
        forEachPart(blocks, count, (worker, block) -> {
            int first = block * SERIAL_ELEMENTS;
            loop.run(first, Math.min(SERIAL_ELEMENTS, count - first));
        });
    }

    void forEachRow(int rows, int width, RowLoop loop) {
        forEachPart(rows, rows * width, (worker, row) -> loop.run(row));
    }

    /** Runs the parts on the team, or here where {@code elements} are too few to be worth it. */
    void forEachPart(int parts, int elements, ThreadTeam.Part part) {
        if (elements <= SERIAL_ELEMENTS) {
            runHere(parts, elements, part);
            return;
        }
        int[] starts = turns(parts, elements, SERIAL_ELEMENTS, team.size());
        team.run(starts.length - 1, (worker, turn) -> {
            for (int i = starts[turn]; i < starts[turn + 1]; i++) {
                part.run(worker, i);
            }
        });
    }

    /**
     * Where the turns begin in which threads take parts, one behind the other, and the last one ends. A turn costs more than a small part,
     * and processors fetch ahead of what is read, in vain at the end of a turn that another thread goes on from: each takes {@link #TAKEN}
     * of what is left of the thread's share at a time, so that most is read in few turns, and a slow thread still leaves the rest to others.
     * Shares have the same number of turns, some of which may be empty: those that {@link ThreadTeam} gives a thread.
     *
     * @param elements of all parts
     * @param least elements of a turn
     */
    static int[] turns(int parts, long elements, long least, int team) {
        int fewest = (int) Math.max(1, parts * least / elements);
        int threads = elements <= least ? 1 : Math.min(team, Math.ceilDiv(parts, fewest));
        int each = 1;
        for (int left = Math.ceilDiv(parts, threads); threads > 1 && left > fewest; left -= taken(left, fewest)) {
            each++;
        }
        int[] starts = new int[threads * each + 1];
        for (int thread = 0; thread < threads; thread++) {
            int start = ThreadTeam.shareStart(thread, threads, parts);
            int end = ThreadTeam.shareStart(thread + 1, threads, parts);
            for (int turn = 0; turn < each; turn++) {
                starts[thread * each + turn] = start;
                start += taken(end - start, fewest);
            }
        }
        starts[threads * each] = parts;
        return starts;
    }

    /** How many of those parts that are left of a share the next turn takes. */
    private static int taken(int left, int fewest) {
        return Math.min(left, Math.max(fewest, (int) (left * TAKEN)));
    }

    private static void runHere(int parts, int elements, ThreadTeam.Part part) {
        for (int i = 0; i < parts; i++) {
            part.run(0, i);
        }
    }

    /** Rows for products with many panels, packed by all threads. They hold until the next are. */
    PackedRows packed(float[] x, int rows, int depth) {
        packed.pack(x, 0, rows, depth, this::forEachPart);
        return packed;
    }

    /** Runs the parts on all threads. */
    void run(int parts, ThreadTeam.Part part) {
        team.run(parts, part);
    }

    /** The scratch memory for products of one thread. */
    PanelProduct panels(int worker) {
        return scratch[worker].panels;
    }

    /** What one thread needs besides the arrays. */
    private static final class Scratch {
        private final PanelSweep sweep = new PanelSweep();
        private final PanelProduct panels = new PanelProduct();
        private final PackedRows row = new PackedRows();
        private final KvRows rows = new KvRows();
        private final float[] totals = new float[SCORES];
        private float[] headSlice = {};

        float[] headSlice(int headDim) {
            if (headSlice.length < headDim) {
                headSlice = new float[headDim];
            }
            return headSlice;
        }
    }
}
