package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.CpuCaches;
import io.github.tornadotransformers.benchmarks.KernelShape;
import io.github.tornadotransformers.benchmarks.Limits;
import io.github.tornadotransformers.benchmarks.OpCost;
import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A gradient of an Op, over a sequence.
 *
 * @param words sizes, for a reader
 * @param cost every array once, and those that are added to twice; operations as the formulas of {@link BackwardOps} have them
 * @param read sizes of the arrays that are read
 * @param written sizes of the arrays that are written or added to
 * @param inPlace whether what was written is the next run's input
 * @param scoresContext positions in a head's row of the first array written, where that holds scores; 0 where it does not
 */
record Gradient(
        String name,
        String words,
        int rows,
        OpCost cost,
        int[] read,
        int[] written,
        boolean inPlace,
        int scoresContext,
        Loop loop)
        implements KernelShape {
    static final String LOSS = "crossEntropy";

    private static final long SEED = 20_260_102;

    /** Data of so many times the last-level cache comes from memory each time. */
    private static final int STREAMED_CACHES = 2;

    /** Operations of an element: the contract's exp, and what the formulas of {@link BackwardOps} add to it. */
    private static final int EXP = 23;

    private static final int GELU_SLOPE = EXP + 17;
    private static final int SWI_GLU = EXP + 13;
    private static final int LAYER_NORM = 18;
    private static final int RMS_NORM = 12;
    private static final int ROTARY = 3;
    private static final int SOFTMAX = 4;
    private static final int CROSS_ENTROPY = EXP + 5;

    /** The loop on its arrays, in the order of their sizes. */
    @FunctionalInterface
    interface Loop {
        void run(BackwardOps ops, float[][] read, float[][] written);
    }

    /**
     * Every gradient of a program, those of a block once, and the loss.
     *
     * @param rows of the sequence, which is as long as the program's context
     */
    static List<Gradient> of(Program program, int rows) {
        List<Gradient> gradients = new ArrayList<>();
        int[] tokens =
                new SplittableRandom(SEED).ints(rows, 0, program.vocabSize()).toArray();
        for (Op op : program.ops()) {
            gradients.addAll(of(op, rows, tokens));
        }
        int logits = rows * program.vocabSize();
        gradients.add(gradient(
                LOSS,
                program.vocabSize(),
                rows,
                (long) CROSS_ENTROPY * logits,
                new int[] {logits},
                new int[] {logits},
                false,
                (ops, in, out) -> {
                    double _ = ops.crossEntropy(in[0], tokens, rows, program.vocabSize(), 1f / rows, out[0]);
                }));
        return gradients;
    }

    private static List<Gradient> of(Op op, int rows, int[] tokens) {
        int width = op.output().width();
        int size = rows * width;
        return switch (op) {
            case Op.TokenEmbedding embedding -> {
                int vocabSize = embedding.table().columns();
                yield List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        size,
                        new int[] {size},
                        new int[] {width * vocabSize},
                        false,
                        (ops, in, out) -> ops.tokenEmbedding(tokens, rows, width, vocabSize, in[0], out[0])));
            }
            case Op.PositionEmbedding _ ->
                List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        size,
                        new int[] {size},
                        new int[] {size},
                        false,
                        (ops, in, out) -> ops.positionEmbedding(rows, width, in[0], out[0])));
            case Op.LayerNorm norm ->
                List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        (long) LAYER_NORM * size,
                        new int[] {size, width, size},
                        new int[] {size, width, width},
                        false,
                        (ops, in, out) -> ops.layerNorm(
                                in[0], in[1], norm.epsilon(), rows, width, in[2], out[0], out[1], out[2])));
            case Op.RmsNorm norm ->
                List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        (long) RMS_NORM * size,
                        new int[] {size, width, size},
                        new int[] {size, width},
                        false,
                        (ops, in, out) ->
                                ops.rmsNorm(in[0], in[1], norm.epsilon(), rows, width, in[2], out[0], out[1])));
            case Op.Linear linear -> linear(linear, rows);
            case Op.Rotary rotary ->
                List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        (long) ROTARY
                                * rows
                                * (rotary.shape().queryWidth() + rotary.shape().keyValueWidth()),
                        new int[0],
                        new int[] {size},
                        true,
                        (ops, _, out) -> ops.rotary(rotary.shape(), rotary.table(), rows, out[0])));
            case Op.CacheAppend _ -> List.of(); // keys and values lie in the projection while training: nothing to do
            case Op.AttentionScores scores -> {
                AttentionShape shape = scores.shape();
                int qkv = rows * shape.fusedWidth();
                yield List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        4L * shape.headDim() * pairs(shape, rows),
                        new int[] {qkv, size},
                        new int[] {qkv},
                        false,
                        (ops, in, out) ->
                                ops.attentionScores(shape, scores.scaling().factor(), in[0], rows, in[1], out[0])));
            }
            case Op.Softmax softmax ->
                List.of(gradient(
                                op.name(),
                                width,
                                rows,
                                SOFTMAX * pairs(softmax.shape(), rows),
                                new int[] {size},
                                new int[] {size},
                                true,
                                (ops, in, out) -> ops.softmax(softmax.shape(), in[0], rows, out[0]))
                        .withScores(softmax.shape().contextLength()));
            case Op.AttentionOutput attention -> {
                AttentionShape shape = attention.shape();
                int scores = rows * shape.scoresWidth();
                int qkv = rows * shape.fusedWidth();
                yield List.of(gradient(
                                op.name(),
                                width,
                                rows,
                                4L * shape.headDim() * pairs(shape, rows),
                                new int[] {scores, qkv, size},
                                new int[] {scores, qkv},
                                false,
                                (ops, in, out) -> ops.attentionOutput(shape, in[0], in[1], rows, in[2], out[0], out[1]))
                        .withScores(shape.contextLength()));
            }
            case Op.GatedMlp _ ->
                List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        (long) SWI_GLU * size,
                        new int[] {2 * size, size},
                        new int[] {2 * size},
                        false,
                        (ops, in, out) -> ops.swiGlu(in[0], rows, width, in[1], out[0])));
            case Op.Scale _ -> List.of(); // a program that has one cannot be trained
            case Op.SelectRows _ ->
                List.of(gradient(
                        op.name(),
                        width,
                        rows,
                        size,
                        new int[] {size},
                        new int[] {size},
                        false,
                        (ops, in, out) -> ops.selectRows(size, in[0], out[0])));
        };
    }

    private static List<Gradient> linear(Op.Linear linear, int rows) {
        int inputs = linear.weight().rows();
        int outputs = linear.weight().columns();
        int x = rows * inputs;
        int y = rows * outputs;
        int matrix = inputs * outputs;
        String words = inputs + " x " + outputs;
        long products = 2L * rows * matrix;
        List<Gradient> all = new ArrayList<>();
        all.add(gradient(
                linear.name() + ".input",
                words,
                rows,
                products,
                new int[] {matrix, y},
                new int[] {x},
                false,
                (ops, in, out) -> ops.linearInput(matrix(in[0], inputs, outputs), rows, in[1], out[0])));
        all.add(gradient(
                linear.name() + ".weight",
                words,
                rows,
                products,
                new int[] {x, y},
                new int[] {matrix},
                false,
                (ops, in, out) -> ops.linearWeight(in[0], rows, inputs, outputs, in[1], out[0])));
        if (linear.bias().isPresent()) {
            all.add(gradient(
                    linear.name() + ".bias",
                    outputs,
                    rows,
                    y,
                    new int[] {y},
                    new int[] {outputs},
                    false,
                    (ops, in, out) -> ops.linearBias(rows, outputs, in[0], out[0])));
        }
        if (linear.activation() == Activation.GELU_TANH) {
            all.add(gradient(
                    linear.name() + ".activation",
                    outputs,
                    rows,
                    (long) GELU_SLOPE * y,
                    new int[] {y, y},
                    new int[] {y},
                    false,
                    (ops, in, out) -> ops.activation(Activation.GELU_TANH, y, in[0], in[1], out[0])));
        }
        return all;
    }

    private static HostMatrix matrix(float[] elements, int rows, int columns) {
        return new HostMatrix(DType.F32, rows, columns, MemorySegment.ofArray(elements), MemorySegment.NULL);
    }

    /** Pairs of a head's query and a position that it sees. */
    private static long pairs(AttentionShape shape, int rows) {
        return (long) shape.heads() * rows * (rows + 1) / 2;
    }

    private static Gradient gradient(
            String name, int width, int rows, long operations, int[] read, int[] written, boolean inPlace, Loop loop) {
        return gradient(name, Integer.toString(width), rows, operations, read, written, inPlace, loop);
    }

    private static Gradient gradient(
            String name,
            String sizes,
            int rows,
            long operations,
            int[] read,
            int[] written,
            boolean inPlace,
            Loop loop) {
        long floats = sum(read) + 2 * sum(written);
        OpCost cost = new OpCost(0, 0, floats * Float.BYTES, operations);
        return new Gradient(name, rows + " x " + sizes, rows, cost, read, written, inPlace, 0, loop);
    }

    private Gradient withScores(int context) {
        return new Gradient(name, words, rows, cost, read, written, inPlace, context, loop);
    }

    /** Whether an element of an array that is written is defined: scores are, up to the row's own position. */
    boolean defines(int array, int index) {
        return array > 0 || scoresContext == 0 || index % scoresContext <= index / (written[0] / rows);
    }

    private static long sum(int[] sizes) {
        return IntStream.of(sizes).asLongStream().sum();
    }

    @Override
    public DType dtype() {
        return DType.F32;
    }

    @Override
    public double leastSeconds(Limits limits) {
        boolean streams = cost.bytes() >= STREAMED_CACHES * CpuCaches.lastLevelBytes();
        return limits.seconds(streams ? cost.bytes() : 0, cost.operations());
    }
}
