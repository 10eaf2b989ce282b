package io.github.tornadotransformers.benchmarks.gpu;

import static io.github.tornadotransformers.benchmarks.gpu.KernelWork.Level.CACHE;
import static io.github.tornadotransformers.benchmarks.gpu.KernelWork.Level.MEMORY;
import static io.github.tornadotransformers.benchmarks.gpu.KernelWork.Level.NEAR;

import io.github.tornadotransformers.benchmarks.BenchmarkException;
import io.github.tornadotransformers.benchmarks.gpu.KernelWork.Level;
import io.github.tornadotransformers.benchmarks.gpu.KernelWork.Loads;
import io.github.tornadotransformers.kernels.AttentionGroupKernels;
import io.github.tornadotransformers.kernels.LikeliestKernels;
import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.kernels.LinearRowKernels;
import io.github.tornadotransformers.kernels.RowSteps;
import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.kernels.StoredFormat;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What each kernel of a token asks of a GPU, from its scalars: a case for each. Bytes, work items and loads follow from the kernels'
 * loops; so do instructions, but for those of matrices, which were counted ({@link ProductCount}): so many for each load and product, and
 * for what is done once. Compilers are taken to unroll a plain loop four times, which is how many of its loads are on their way.
 */
final class KernelWorks {
    /** Of an item, outside its loop: which element it has, and where. */
    private static final int ONCE = 40;

    /** Of a load: its address, itself, what is computed with it, a part of the loop. */
    private static final int PER_LOAD = 5;

    /** Widening a stored key or value. */
    private static final int WIDENING = 15;

    private static final int UNROLLED = 4;
    private static final int REGISTERS = 32;

    /** Cycles until a result of arithmetic can be used, and one from local memory that was asked for three products before. */
    private static final int DEPENDENT = 4;

    private static final int LOCAL = 8;

    /** Cycles of a barrier of a group. */
    private static final int BARRIER = 30;

    /** Instructions of an exponential, and of an activation, that wait for one another. */
    private static final int EXPONENTIAL = 25;

    private static final int ACTIVATION = 60;
    private static final int QUOTIENT = 20;
    private static final int SCALING = 10;

    /** Of a key or value that is loaded ahead: its address, itself. */
    private static final int LOADED = 2;

    /** Of an item that has so many ahead. */
    private static final int PAGE_REGISTERS = 72;

    /** Until one of a group's items is left. */
    private static final int HALVINGS = 7;

    /** The least that memory gives: a load of one element takes as much where its neighbours are not wanted. */
    private static final int SECTOR = 32;

    /** Slices that a norm's group has in local memory at once. */
    private static final int GROUP_SLICES = 32;

    /** Items whose instructions are issued together. */
    private static final int WARP = 32;

    private static final int FLOAT = Float.BYTES;

    private final long items;
    private final int group;
    private final Map<String, Number> scalars;
    private final Backend backend;
    private final int position;
    private final List<Loads> loads = new ArrayList<>();
    private int registers = REGISTERS;
    private double instructions = ONCE;
    private double chain;
    private double apart;
    private long memoryBytes;
    private long cacheBytes;

    private KernelWorks(DeviceTask task, Backend backend, int position) {
        this.items = task.items();
        this.group = task.group();
        this.scalars = task.scalars();
        this.backend = backend;
        this.position = position;
    }

    /**
     * @param task of one token
     * @param position of the token
     * @throws BenchmarkException if the kernel is not known here
     */
    static KernelWork of(DeviceTask task, Backend backend, int position) {
        KernelWorks works = new KernelWorks(task, backend, position);
        return works.work(works.active(task.kernelName()));
    }

    private KernelWork work(long active) {
        return new KernelWork(active, group, registers, memoryBytes, cacheBytes, instructions, loads, chain, apart);
    }

    /** Notes what a kernel asks for, and says how many items have something to do. */
    private long active(String kernel) {
        return switch (kernel) {
            case "EmbeddingKernels.lookUpTokens", "StoredKernels.lookUpTokens" -> lookUp();
            case "EmbeddingKernels.addPositions" -> addPositions();
            case "LinearRowKernels.product" -> rowProduct();
            case "LinearGroupKernels.sliceSumsOfElements" -> groupSumsOfElements();
            case "LinearKernels.sliceSums" -> loopSums(scalar("format"));
            case "StoredKernels.sliceSums" -> storedLoopSums();
            case "LinearKernels.finish" -> finish(scalar("columns"), 1);
            case "GatedMlpKernels.finishGateUp" -> finish(scalar("width"), 2);
            case "QkvKernels.finish" -> finishQkv(1);
            case "QkvKernels.finishRotated" -> finishQkv(2);
            case "NormGroupKernels.layerNorm" -> groupNorm(2);
            case "NormGroupKernels.rmsNorm" -> groupNorm(1);
            case "NormKernels.layerNormRow" -> rowNorm(2);
            case "NormKernels.rmsNormRow" -> rowNorm(1);
            case "NormKernels.sliceSums" -> normSlices(scalar("width"), 1);
            case "NormKernels.sliceDeviations" -> normSlices(scalar("width"), 1);
            case "NormKernels.sliceSquares" -> normSlices(scalar("size"), scalar("groups"));
            case "NormKernels.layerNorm" -> normOfSlices(scalar("width"), 1);
            case "NormKernels.rmsNorm", "NormKernels.rmsNormInPlace" -> normOfSlices(scalar("size"), scalar("groups"));
            case "RotaryKernels.rotatePairs" ->
                elements((long) (scalar("heads") + scalar("kvHeads")) * scalar("pairs"), 4);
            case "CacheKernels.append" -> append();
            case "GatedMlpKernels.gatedMlp" -> activated(scalar("width"));
            case "ScaleKernels.scale" -> activated(scalar("width"));
            case "LikeliestKernels.ofParts" -> largestOfParts();
            case "LikeliestKernels.ofAll" -> largestOfAll();
            case "RowKernels.copyRows" -> elements(scalar("width"), 1);
            case "AttentionKernels.scaledScores" -> scores();
            case "AttentionKernels.sliceMaxima" -> maxima();
            case "AttentionKernels.sliceExponentials" -> loopExponentials(slices());
            case "AttentionKernels.rowExponentials" -> loopExponentials(seen());
            case "SoftmaxGroupKernels.sliceExponentials" -> groupExponentials();
            case "AttentionGroupKernels.scaledScores" -> groupScores();
            case "AttentionGroupKernels.sliceOutputs" -> groupOutputs();
            case "AttentionGroupKernels.finishOutputs" -> finishOutputs(AttentionGroupKernels.SUMS);
            case "AttentionKernels.divideByTotals" -> divide();
            case "AttentionKernels.sliceOutputs" -> outputs();
            case "AttentionKernels.finishOutputs" -> finishOutputs(UNROLLED);
            default -> throw new BenchmarkException("what the kernel " + kernel + " asks of a GPU is not known");
        };
    }

    private int scalar(String name) {
        return scalars.get(name).intValue();
    }

    /** Positions that the token sees. */
    private int seen() {
        return Math.min(position + 1, scalar("window"));
    }

    /** Slices that hold positions that it sees. */
    private int slices() {
        return position / Slices.SIZE - (position + 1 - seen()) / Slices.SIZE + 1;
    }

    /** Loads of an item, each with its share of instructions. */
    private void loads(Level from, long count, int inFlight, int bytes) {
        loads.add(new Loads(from, count, inFlight, bytes));
        instructions += (double) PER_LOAD * count;
    }

    /** Instructions that wait for one another. */
    private void chain(long count) {
        instructions += count;
        chain += (double) DEPENDENT * count;
    }

    /** Elements that one item each reads a few times and writes. */
    private long elements(long count, int reads) {
        loads(CACHE, reads, reads, FLOAT);
        cacheBytes += count * (reads + 1) * FLOAT;
        return count;
    }

    private long lookUp() {
        int width = scalar("width");
        loads(CACHE, 2, 1, Integer.BYTES);
        loads(MEMORY, 1, 1, SECTOR);
        memoryBytes += (long) width * SECTOR;
        cacheBytes += (long) width * FLOAT;
        return width;
    }

    private long addPositions() {
        int width = scalar("width");
        loads(CACHE, 1, 1, Integer.BYTES);
        loads(MEMORY, 2, 2, FLOAT);
        memoryBytes += (long) width * FLOAT;
        cacheBytes += 2L * width * FLOAT;
        return width;
    }

    /** Bytes of a matrix, with its scales. */
    private long matrixBytes(int format) {
        long weights = (long) scalar("inputs") * scalar("columns");
        return switch (format) {
            case WeightFormat.F32 -> weights * Float.BYTES;
            case WeightFormat.INT8 ->
                weights
                        + (long) Math.ceilDiv(scalar("inputs"), WeightFormat.INT8_BLOCK)
                                * scalar("columns")
                                * Float.BYTES;
            default -> weights * Short.BYTES;
        };
    }

    /**
     * A group has all slices of its columns, some at once: the norm's sums, then round by round inputs in local memory, of blocks with minima
     * the sums of their inputs, words, and the slices' sums, which an item for each column adds up.
     */
    private long rowProduct() {
        int format = scalar("format");
        int inputs = scalar("inputs");
        int columns = scalar("columns");
        int steps = scalar("steps");
        int ending = RowSteps.ending(steps);
        int terms = Math.min(Slices.SIZE, inputs);
        boolean isBlocks = StoredFormat.isBlocks(format);
        ProductCount count = isBlocks ? ProductCount.ofBlocks(format, backend) : ProductCount.ofRows(format, backend);
        int waits = Math.ceilDiv(terms, isBlocks ? LinearRowKernels.BLOCK_ROWS : count.inFlight());
        int weights = terms * (isBlocks ? 1 : WeightFormat.perWord(format));
        int slices = Slices.count(inputs);
        int lanes = LinearRowKernels.lanes(format, columns, ending, group);
        int rounds = Math.ceilDiv(slices, lanes);
        int norm = RowSteps.norm(steps);
        int passes = norm == RowSteps.LAYER_NORM ? 2 : norm == RowSteps.RMS_NORM ? 1 : 0;
        int each = Math.ceilDiv(inputs, group);
        registers = count.registers();
        for (int pass = 0; pass < passes; pass++) {
            loads(pass == 0 ? CACHE : NEAR, each, each, FLOAT);
            chain += (double) rounds * (terms * LOCAL + 2 * BARRIER) + (double) slices * DEPENDENT;
            instructions += (double) rounds * terms * 2 * warps(lanes) / warps(group) + slices;
        }
        if (passes > 0) {
            chain(2 * QUOTIENT);
        }
        apart = chain;
        if (isBlocks && StoredFormat.hasMinimum(format)) {
            double summed = (double) StoredFormat.block(format) * LOCAL;
            apart += summed;
            chain += rounds * summed;
        }
        loads(passes == 0 ? CACHE : NEAR, each * (passes == 0 ? 1L : 2L), UNROLLED, FLOAT);
        loads.add(new Loads(MEMORY, (long) rounds * waits * count.inFlight(), count.inFlight(), Integer.BYTES));
        instructions += count.perWeight() * weights * slices / lanes;
        chain += (double) rounds * (2 + waits) * BARRIER;
        int joined = ending == RowSteps.GATES ? 2 : 1;
        double before = chain;
        chain += (double) joined * slices * LOCAL;
        chain(RowSteps.activation(steps) == LinearKernels.NO_ACTIVATION ? 0 : ACTIVATION);
        apart += (chain - before) / rounds;
        if (ending == RowSteps.ADDS || RowSteps.isBiased(steps)) {
            loads(CACHE, 1, 1, FLOAT);
        }
        memoryBytes += isBlocks ? storedBytes(format) : matrixBytes(format);
        cacheBytes += items / group * inputs * FLOAT + 2L * columns * FLOAT;
        return items;
    }

    /** A part of a row in local memory, then a word of each of so many rows, of which an item has one element. */
    private long groupSumsOfElements() {
        ProductCount count = ProductCount.ofElements(scalar("format"), backend);
        int terms = Math.min(Slices.SIZE, scalar("inputs"));
        registers = count.registers();
        loads(CACHE, 1, 1, FLOAT);
        loads.add(new Loads(MEMORY, terms, count.inFlight(), Integer.BYTES));
        instructions += count.perWeight() * terms;
        chain += BARRIER + (double) BARRIER * terms / count.inFlight();
        return sums(matrixBytes(scalar("format")));
    }

    private long storedLoopSums() {
        int format = scalar("format");
        if (!StoredFormat.isBlocks(format)) {
            return loopSums(format);
        }
        ProductCount count = ProductCount.ofLoopOfBlocks(format);
        int terms = Math.min(Slices.SIZE, scalar("inputs"));
        registers = count.registers();
        loads.add(new Loads(MEMORY, terms, count.inFlight(), Integer.BYTES));
        instructions += count.perWeight() * terms;
        return sums(storedBytes(format));
    }

    /** Bytes of columns of blocks. */
    private long storedBytes(int format) {
        return scalar("columns") * StoredFormat.columnBytes(format, scalar("inputs"));
    }

    private long loopSums(int format) {
        ProductCount count = ProductCount.ofLoop(format);
        int terms = Math.min(Slices.SIZE, scalar("inputs"));
        int bytes = format == WeightFormat.F32 ? Float.BYTES : format == WeightFormat.INT8 ? Byte.BYTES : Short.BYTES;
        registers = count.registers();
        loads.add(new Loads(MEMORY, terms, count.inFlight(), bytes));
        instructions += count.perWeight() * terms;
        return sums(matrixBytes(format));
    }

    /** How many issue instructions for so many items. */
    private static int warps(int items) {
        return Math.ceilDiv(items, WARP);
    }

    /** Notes the bytes of a product's matrix; how many sums it has. */
    private long sums(long bytes) {
        long sums = (long) Slices.count(scalar("inputs")) * scalar("columns");
        memoryBytes += bytes;
        cacheBytes += sums * FLOAT;
        return sums;
    }

    /** @param sums that an item adds up */
    private long finish(int columns, int sums) {
        int slices = scalar("slices");
        loads(CACHE, (long) sums * slices, sums * UNROLLED, FLOAT);
        chain((long) slices + (scalar("activation") == LinearKernels.NO_ACTIVATION ? 0 : ACTIVATION));
        cacheBytes += (long) columns * (sums * slices + 2) * FLOAT;
        return columns;
    }

    /** @param sums that an item adds up */
    private long finishQkv(int sums) {
        int slices = scalar("slices");
        int keyValues = 2 * scalar("kvHeads") * scalar("headDim");
        long width = (long) scalar("heads") * scalar("headDim") + keyValues;
        boolean narrows = scalar("format") != WeightFormat.F32;
        loads(CACHE, (long) sums * slices, sums * UNROLLED, FLOAT);
        chain(slices + (narrows ? ACTIVATION : 0));
        cacheBytes += width * (slices + 1) * FLOAT;
        memoryBytes += (long) keyValues * keyValueBytes();
        return width / sums;
    }

    private long largestOfParts() {
        int logits = scalar("logits");
        int each = Math.ceilDiv(logits, LikeliestKernels.parts(logits));
        loads(CACHE, each, 1, FLOAT);
        chain(each);
        cacheBytes += (long) logits * FLOAT;
        return items;
    }

    /** Of a greedy token. */
    private long largestOfAll() {
        int each = Math.ceilDiv(LikeliestKernels.parts(scalar("logits")), LikeliestKernels.GROUP);
        loads(CACHE, 2L * each, 2, FLOAT);
        chain(each);
        chain += Integer.numberOfTrailingZeros(LikeliestKernels.GROUP) * (double) BARRIER;
        cacheBytes += (long) LikeliestKernels.parts(scalar("logits")) * 2 * FLOAT;
        return items;
    }

    private long append() {
        long width = (long) scalar("kvHeads") * scalar("headDim");
        loads(CACHE, 2, 2, FLOAT);
        chain(scalar("format") == WeightFormat.F32 ? 0 : 2 * ACTIVATION);
        cacheBytes += 2 * width * FLOAT;
        memoryBytes += 2 * width * keyValueBytes();
        return width;
    }

    private int keyValueBytes() {
        return scalar("format") == WeightFormat.F32 ? Float.BYTES : Short.BYTES;
    }

    private long activated(int width) {
        chain(ACTIVATION);
        return elements(width, 2);
    }

    /** A group for the row: slices go to local memory, an item adds up one of them. */
    private long groupNorm(int passes) {
        int width = scalar("width");
        int slices = Slices.count(width);
        int chunks = Math.ceilDiv(slices, GROUP_SLICES);
        for (int pass = 0; pass < passes; pass++) {
            loads(pass == 0 ? CACHE : NEAR, slices, UNROLLED, FLOAT);
            chain += (double) chunks * (Math.min(Slices.SIZE, width) * LOCAL + 2 * BARRIER)
                    + (double) slices * DEPENDENT;
        }
        loads(CACHE, (passes + 1L) * slices, (passes + 1) * UNROLLED, FLOAT);
        instructions += (double) passes * Math.min(Slices.SIZE, width) * 3;
        chain(2 * QUOTIENT);
        cacheBytes += (long) (passes + 3) * width * FLOAT;
        return DeviceTask.GROUP;
    }

    /** Every item adds up the row. */
    private long rowNorm(int passes) {
        int width = scalar("width");
        loads(CACHE, Math.ceilDiv(width, DeviceTask.GROUP), 1, FLOAT);
        for (int pass = 0; pass < passes; pass++) {
            loads(NEAR, width, UNROLLED, FLOAT);
            chain += (double) DEPENDENT * width;
        }
        chain(2 * QUOTIENT);
        cacheBytes += (long) Math.ceilDiv(width, DeviceTask.GROUP) * width * FLOAT;
        return width;
    }

    private long normSlices(int size, int groups) {
        long active = (long) groups * Slices.count(size);
        loads(CACHE, Math.min(Slices.SIZE, size), UNROLLED, FLOAT);
        chain += (double) DEPENDENT * Math.min(Slices.SIZE, size);
        cacheBytes += (long) groups * size * FLOAT;
        return active;
    }

    private long normOfSlices(int size, int groups) {
        loads(CACHE, Slices.count(size), UNROLLED, FLOAT);
        chain(2 * QUOTIENT + (long) Slices.count(size));
        return elements((long) groups * size, 3);
    }

    private long scores() {
        int headDim = scalar("headDim");
        int heads = scalar("heads");
        long all = (long) heads * seen() * headDim * keyValueBytes();
        loads(CACHE, 3, 1, Integer.BYTES);
        loads(MEMORY, headDim, UNROLLED, keyValueBytes());
        instructions += scalar("format") == WeightFormat.F32 ? 0 : (double) WIDENING * headDim;
        chain += (double) DEPENDENT * headDim;
        memoryBytes += all / scalar("headsPerKvHead");
        cacheBytes += all - all / scalar("headsPerKvHead") + (long) heads * seen() * FLOAT;
        return (long) heads * seen();
    }

    /** Of one row: heads that share keys and values have a group for each page, and for each few of them. */
    private long groupScores() {
        int headDim = scalar("headDim");
        int together = AttentionGroupKernels.together(scalar("headsPerKvHead"));
        loads(CACHE, 3, 1, Integer.BYTES);
        loads(CACHE, Math.ceilDiv((long) together * headDim, DeviceTask.GROUP), UNROLLED, FLOAT);
        keyValues(headDim, together);
        chain += (double) together * SCALING + HALVINGS * (BARRIER + (double) together * LOCAL);
        cacheBytes += (long) scalar("heads") * seen() * FLOAT;
        return groupsOfPages(together);
    }

    private long groupOutputs() {
        int headDim = scalar("headDim");
        int together = AttentionGroupKernels.together(scalar("headsPerKvHead"));
        int sides = Math.max(1, DeviceTask.GROUP / headDim);
        loads(CACHE, 3, 1, Integer.BYTES);
        loads(CACHE, (long) together * Math.ceilDiv(slices(), DeviceTask.GROUP), together, FLOAT);
        chain += (double) slices() * LOCAL + 2 * BARRIER;
        loads(CACHE, together, together, FLOAT);
        chain((long) together * QUOTIENT);
        for (int left = 0; left < headDim; left += DeviceTask.GROUP) {
            keyValues(Math.min(Slices.SIZE, seen()), Math.ceilDiv(together, sides));
        }
        cacheBytes += (long) scalar("heads") * (seen() + (long) slices() * headDim) * FLOAT;
        return groupsOfPages(together);
    }

    /** Keys or values that an item reads, each for so many heads: the product, and its other factor from local memory. */
    private void keyValues(int count, int heads) {
        registers = PAGE_REGISTERS;
        loads.add(new Loads(MEMORY, count, AttentionGroupKernels.LOADS, keyValueBytes()));
        double widening = scalar("format") == WeightFormat.F32 ? 0 : WIDENING;
        instructions += (LOADED + widening + 2.0 * heads) * count;
        chain += (double) DEPENDENT * count + (double) BARRIER * Math.ceilDiv(count, AttentionGroupKernels.LOADS);
    }

    /** Work items of groups for pages; a page comes from memory once. */
    private long groupsOfPages(int together) {
        int headsPerKvHead = scalar("headsPerKvHead");
        long kvHeads = scalar("heads") / headsPerKvHead;
        long sharers = Math.ceilDiv(headsPerKvHead, together);
        long once = kvHeads * seen() * scalar("headDim") * keyValueBytes();
        memoryBytes += once;
        cacheBytes += (sharers - 1) * once;
        return kvHeads * sharers * slices() * DeviceTask.GROUP;
    }

    private long maxima() {
        int terms = Math.min(Slices.SIZE, seen());
        loads(CACHE, terms, UNROLLED, FLOAT);
        chain += (double) DEPENDENT * terms;
        cacheBytes += (long) scalar("heads") * seen() * FLOAT;
        return (long) scalar("heads") * slices();
    }

    /**
     * An item has a slice.
     *
     * @param compared for the maximum
     */
    private long loopExponentials(int compared) {
        int terms = Math.min(Slices.SIZE, seen());
        loads(CACHE, compared, UNROLLED, FLOAT);
        loads(NEAR, terms, 1, FLOAT);
        chain((long) terms * EXPONENTIAL + compared);
        cacheBytes += (long) scalar("heads") * seen() * 2 * FLOAT;
        return (long) scalar("heads") * slices();
    }

    /** A group has a slice. */
    private long groupExponentials() {
        int terms = Math.min(Slices.SIZE, seen());
        loads(CACHE, Math.ceilDiv(slices(), DeviceTask.GROUP), 1, FLOAT);
        loads(NEAR, 1, 1, FLOAT);
        chain(EXPONENTIAL);
        chain += HALVINGS * (BARRIER + LOCAL) + BARRIER + (double) terms * LOCAL;
        long heads = items / DeviceTask.GROUP / Slices.count(scalar("context"));
        cacheBytes += heads * seen() * 2 * FLOAT;
        return heads * slices() * DeviceTask.GROUP;
    }

    private long divide() {
        loads(CACHE, slices() + 1L, UNROLLED, FLOAT);
        chain(slices() + QUOTIENT);
        long active = (long) scalar("heads") * seen();
        cacheBytes += 2 * active * FLOAT;
        return active;
    }

    private long outputs() {
        int heads = scalar("heads");
        int headDim = scalar("headDim");
        int terms = Math.min(Slices.SIZE, seen());
        long all = (long) heads * seen() * headDim * keyValueBytes();
        loads(CACHE, 3, 1, Integer.BYTES);
        loads(MEMORY, terms, UNROLLED, keyValueBytes());
        instructions += (double) PER_LOAD * terms;
        instructions += scalar("format") == WeightFormat.F32 ? 0 : (double) WIDENING * terms;
        chain += (double) DEPENDENT * terms;
        memoryBytes += all / scalar("headsPerKvHead");
        cacheBytes += all - all / scalar("headsPerKvHead") + (long) heads * slices() * headDim * FLOAT;
        return (long) heads * slices() * headDim;
    }

    private long finishOutputs(int inFlight) {
        long active = (long) scalar("heads") * scalar("headDim");
        loads(CACHE, slices(), inFlight, FLOAT);
        chain(slices());
        cacheBytes += active * (slices() + 1) * FLOAT;
        return active;
    }
}
