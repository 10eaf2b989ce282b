package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One kernel on one shape with seeded inputs.
 *
 * @param kernel the Op's name in the result
 * @param dtype of its matrix; float32 where it has none
 * @param shape for the reader
 * @param run runs the kernel on an engine, on inputs of its own, and gives what it has written
 */
record KernelCase(String kernel, DType dtype, String shape, Run run) {
    /** The kernel on one engine; the same inputs each time. */
    interface Run {
        float[] on(HostOps ops);
    }

    private static final float[] NO_FLOATS = {};
    private static final int[] WIDTHS = {1, 7, 64, 129, 768, 2048, 4096, 11008};
    private static final int[][] LINEAR = {
        {1, 1}, {7, 33}, {64, 7}, {129, 130}, {255, 48}, {768, 2304}, {2048, 257}, {4096, 96}, {11008, 33}
    };
    private static final int[][] LINEAR_OF_BLOCKS = {{32, 7}, {160, 129}, {256, 257}, {4096, 96}};
    private static final List<AttentionShape> ATTENTION = List.of(
            new AttentionShape(1, 1, 2, 1),
            new AttentionShape(3, 1, 10, 5),
            new AttentionShape(6, 2, 20, 150),
            new AttentionShape(12, 12, 64, 300),
            new AttentionShape(32, 4, 64, 513),
            new AttentionShape(8, 8, 128, 129));

    /** Every kernel, over shapes from 1 to those of real models. */
    static List<KernelCase> all(long seed) {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : DType.OF_MATRICES) {
            addEmbeddings(cases, dtype, new int[] {1, 33, 768}, seed);
            addLinears(cases, dtype, LINEAR, seed);
        }
        addEmbeddings(cases, DType.STORED, new int[] {32, 768}, seed);
        addLinears(cases, DType.STORED, LINEAR_OF_BLOCKS, seed);
        for (int width : WIDTHS) {
            for (int rows : new int[] {1, 3}) {
                addRowKernels(cases, rows, width, seed);
            }
        }
        for (AttentionShape shape : ATTENTION) {
            int context = shape.contextLength();
            addAttention(cases, shape, 0, Math.min(5, context), seed);
            addAttention(cases, shape, context - 1, 1, seed);
            if (context > 9) {
                addAttention(cases, shape, context - 9, 9, seed);
            }
        }
        return cases;
    }

    private static void addEmbeddings(List<KernelCase> cases, DType dtype, int[] widths, long seed) {
        for (int width : widths) {
            int vocabSize = 257;
            cases.add(tokenEmbedding("tokenEmbedding", dtype, 1f, width, vocabSize, seed));
            cases.add(tokenEmbedding("tokenEmbedding, scaled", dtype, 27.5f, width, vocabSize, seed));
        }
    }

    private static KernelCase tokenEmbedding(
            String name, DType dtype, float scale, int width, int vocabSize, long seed) {
        return new KernelCase(name, dtype, "3 rows of " + width, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] out = new float[3 * width];
            ops.tokenEmbedding(values.matrix(dtype, width, vocabSize), scale, values.ints(3, vocabSize), 3, out);
            return out;
        });
    }

    private static void addLinears(List<KernelCase> cases, DType dtype, int[][] shapes, long seed) {
        for (int[] shape : shapes) {
            HostMatrix weight = new HurtfulValues(seed).matrix(dtype, shape[0], shape[1]);
            for (int rows : new int[] {1, 5}) {
                cases.add(linear("linear", weight, rows, Residual.NONE, Activation.NONE, seed));
                for (Activation activation : List.of(Activation.GELU_TANH, Activation.GELU_ERF, Activation.SILU)) {
                    cases.add(linear("linear + bias, " + activation, weight, rows, Residual.NONE, activation, seed));
                }
                cases.add(linear("linear + residual", weight, rows, Residual.ADD, Activation.NONE, seed));
                Residual scaled = Residual.scaled(0.22f);
                cases.add(linear("linear + residual, scaled", weight, rows, scaled, Activation.NONE, seed));
            }
        }
    }

    private static KernelCase linear(
            String name, HostMatrix weight, int rows, Residual residual, Activation activation, long seed) {
        String shape = rows + " x " + weight.rows() + " x " + weight.columns();
        return new KernelCase(name, weight.dtype(), shape, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] x = values.floats(rows * weight.rows());
            float[] bias = activation == Activation.NONE ? null : values.floats(weight.columns());
            float[] out = values.floats(rows * weight.columns());
            ops.linear(x, weight, bias, activation, residual, rows, out);
            return out;
        });
    }

    private static void addRowKernels(List<KernelCase> cases, int rows, int width, long seed) {
        String shape = rows + " x " + width;
        cases.add(new KernelCase("positionEmbedding", DType.F32, shape, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] out = values.floats(rows * width);
            ops.positionEmbedding(values.floats((rows + 2) * width), BatchRows.of(2, rows), width, out);
            return out;
        }));
        cases.add(new KernelCase("layerNorm", DType.F32, shape, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] out = new float[rows * width];
            float[] x = values.floats(rows * width);
            ops.layerNorm(x, values.floats(width), values.floats(width), 1e-5f, rows, width, out);
            return out;
        }));
        cases.add(rmsNorm("rmsNorm", shape, rows, width, Residual.NONE, seed));
        cases.add(rmsNorm("rmsNorm + residual", shape, rows, width, Residual.scaled(0.22f), seed));
        cases.add(new KernelCase("rmsNorm of groups", DType.F32, shape + ", 3 times from column 2", ops -> {
            Groups groups = new Groups(3 * width + 5, 2, 3, width);
            HurtfulValues values = new HurtfulValues(seed);
            float[] x = values.floats(rows * groups.rowWidth());
            ops.rmsNorm(groups, x, values.floats(width), 1e-6f, Residual.NONE, rows, x);
            return x;
        }));
        for (Activation activation : List.of(Activation.SILU, Activation.GELU_TANH, Activation.GELU_ERF)) {
            cases.add(new KernelCase("gatedMlp, " + activation, DType.F32, shape, ops -> {
                float[] out = new float[rows * width];
                ops.gatedMlp(activation, new HurtfulValues(seed).floats(2 * rows * width), rows, width, out);
                return out;
            }));
        }
        for (Scaling scaling : List.of(Scaling.by(0.125f), Scaling.by(0.125f).capped(30f))) {
            String name = scaling.isCapped() ? "scale, cap" : "scale";
            cases.add(new KernelCase(name, DType.F32, shape, ops -> {
                float[] x = new HurtfulValues(seed).floats(rows * width);
                ops.scale(scaling, x.length, x);
                return x;
            }));
        }
    }

    private static KernelCase rmsNorm(String name, String shape, int rows, int width, Residual residual, long seed) {
        return new KernelCase(name, DType.F32, shape, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] out = values.floats(rows * width);
            float[] x = values.floats(rows * width);
            ops.rmsNorm(Groups.wholeRow(width), x, values.floats(width), 1e-6f, residual, rows, out);
            return out;
        });
    }

    private static void addAttention(List<KernelCase> cases, AttentionShape shape, int first, int rows, long seed) {
        int context = shape.contextLength();
        String name = shape.heads() + "/" + shape.kvHeads() + " heads of " + shape.headDim() + ", positions " + first
                + " to " + (first + rows - 1);
        int cacheSize = Math.toIntExact(shape.cacheLayerSize());
        cases.add(rotary("rotary", name, shape, shape.headDim() / 2, first, rows, seed));
        if (shape.headDim() > 2) {
            cases.add(rotary("rotary, partial", name, shape, shape.headDim() / 4, first, rows, seed));
        }
        cases.add(new KernelCase("cacheAppend", DType.F32, name, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] keys = values.floats(cacheSize);
            float[] cached = values.floats(cacheSize);
            BatchRows batch = BatchRows.of(first, rows, KvLayer.contiguous(shape, keys, cached));
            ops.cacheAppend(shape, batch, values.floats(rows * shape.fusedWidth()));
            float[] both = Arrays.copyOf(keys, 2 * cacheSize);
            System.arraycopy(cached, 0, both, cacheSize, cacheSize);
            return both;
        }));
        addVisible(cases, "", name, shape, first, rows, seed);
        if (context > 1) {
            addVisible(cases, ", window", name, shape.withWindow(context / 2), first, rows, seed);
        }
    }

    private static KernelCase rotary(
            String kernel, String name, AttentionShape shape, int pairs, int first, int rows, long seed) {
        return new KernelCase(kernel, DType.F32, name, ops -> {
            float[] qkv = new HurtfulValues(seed).floats(rows * shape.fusedWidth());
            ops.rotary(shape, rotaryTable(shape, pairs), BatchRows.of(first, rows), qkv);
            return qkv;
        });
    }

    /** What depends on which positions a query sees. */
    private static void addVisible(
            List<KernelCase> cases, String kind, String name, AttentionShape shape, int first, int rows, long seed) {
        int cacheSize = Math.toIntExact(shape.cacheLayerSize());
        for (Scaling scaling : List.of(Scaling.by(0.125f), Scaling.by(0.125f).capped(50f))) {
            String kernel = "attentionScores" + kind + (scaling.isCapped() ? ", cap" : "");
            cases.add(new KernelCase(kernel, DType.F32, name, ops -> {
                HurtfulValues values = new HurtfulValues(seed);
                float[] scores = new float[rows * shape.scoresWidth()];
                float[] qkv = values.floats(rows * shape.fusedWidth());
                KvLayer cache = KvLayer.contiguous(shape, values.floats(cacheSize), NO_FLOATS);
                ops.attentionScores(shape, scaling, BatchRows.of(first, rows, cache), qkv, scores);
                return visible(shape, first, scores);
            }));
        }
        cases.add(new KernelCase("softmax" + kind, DType.F32, name, ops -> {
            float[] scores = new HurtfulValues(seed).scores(rows * shape.scoresWidth());
            ops.softmax(shape, BatchRows.of(first, rows), scores);
            return visible(shape, first, scores);
        }));
        cases.add(new KernelCase("attentionOutput" + kind, DType.F32, name, ops -> {
            HurtfulValues values = new HurtfulValues(seed);
            float[] out = new float[rows * shape.queryWidth()];
            float[] probabilities = values.floats(rows * shape.scoresWidth());
            KvLayer cache = KvLayer.contiguous(shape, NO_FLOATS, values.floats(cacheSize));
            ops.attentionOutput(shape, BatchRows.of(first, rows, cache), probabilities, out);
            return out;
        }));
    }

    private static RotaryTable rotaryTable(AttentionShape shape, int pairs) {
        double[] frequencies = IntStream.range(0, pairs)
                .mapToDouble(pair -> Math.pow(10000, -2.0 * pair / shape.headDim()))
                .toArray();
        return RotaryTable.of(frequencies, 1, shape.contextLength());
    }

    /** Scores of positions that a query does not see are undefined. */
    private static float[] visible(AttentionShape shape, int first, float[] scores) {
        int context = shape.contextLength();
        for (int i = 0; i < scores.length; i++) {
            int position = first + i / shape.scoresWidth();
            boolean isSeen = i % context <= position && i % context >= shape.firstVisible(position);
            scores[i] = isSeen ? scores[i] : 0f;
        }
        return scores;
    }
}
