package io.github.tornadotransformers.training;

import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The loss of one sequence and its gradients: every Op forward, keeping what its gradient will need, then every Op's
 * gradient in reverse. A batch is run sequence by sequence; gradients add up in that order, and within a sequence from the
 * head to the embedding, so that their bits are always the same.
 *
 * <p>A buffer of the program is an array that its Ops write again and again; here an Op that replaces it, or adds to it,
 * gets a fresh array, so that each layer's are still there on the way back. Rotary, softmax and position embedding work in
 * place: their gradients need only what they leave. Gradients of buffers are needed once: there is one array of each,
 * all zero between sequences.
 */
public final class TrainingPass implements GradientPass {
    private final Program program;
    private final ParameterArrays weights;
    private final ParameterArrays gradients;
    private final HostOps ops;
    private final BackwardOps backwardOps;
    private final Map<Buffer, float[]> current = new HashMap<>();
    private final Map<Buffer, float[]> bufferGradients = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private final float[] keys;
    private final float[] values;
    private final float[] logits;
    private Buffer cached;
    private int[] tokens;
    private int rows;

    /**
     * @param program for sequences of at most its context
     * @param gradients what is added to; all weights of the program
     * @param ops closed with this
     */
    public TrainingPass(
            Program program, ParameterArrays weights, ParameterArrays gradients, HostOps ops, BackwardOps backwardOps) {
        this.program = program;
        this.weights = weights;
        this.gradients = gradients;
        this.ops = ops;
        this.backwardOps = backwardOps;
        keys = new float[Math.toIntExact(program.attention().cacheLayerSize())];
        values = new float[keys.length];
        program.embedding().forEach(op -> steps.add(bind(op, 0)));
        for (int layer = 0; layer < program.layers(); layer++) {
            for (Op op : program.block()) {
                steps.add(bind(op, layer));
            }
        }
        program.head().forEach(op -> steps.add(bind(op, 0)));
        logits = current.get(program.logits());
    }

    @Override
    public Program program() {
        return program;
    }

    @Override
    public ParameterArrays weights() {
        return weights;
    }

    @Override
    public ParameterArrays gradients() {
        return gradients;
    }

    @Override
    public void begin() {
        gradients.clear();
    }

    @Override
    public double loss(int[] tokens, int[] targets) {
        forward(tokens, targets);
        return backwardOps.crossEntropy(logits, targets, rows, program.vocabSize(), 0f, logits);
    }

    @Override
    public double lossAndGradients(int[] tokens, int[] targets, float scale) {
        forward(tokens, targets);
        double loss =
                backwardOps.crossEntropy(logits, targets, rows, program.vocabSize(), scale, gradient(program.logits()));
        for (Step step : steps.reversed()) {
            step.backward.run();
        }
        return loss;
    }

    private void forward(int[] tokens, int[] targets) {
        GradientPass.requireSequence(program, tokens, targets);
        this.tokens = tokens;
        rows = tokens.length;
        for (Step step : steps) {
            step.forward.run();
        }
    }

    /** They are there. */
    @Override
    public void readGradients() {}

    @Override
    public void descend(float learningRate) {
        weights.add(-learningRate, gradients);
    }

    /** They are there. */
    @Override
    public void readWeights() {}

    @Override
    public void close() {
        ops.close();
    }

    private Step bind(Op op, int layer) {
        return switch (op) {
            case Op.TokenEmbedding embedding -> bind(embedding);
            case Op.PositionEmbedding embedding -> bind(embedding);
            case Op.LayerNorm norm -> bind(norm, layer);
            case Op.RmsNorm norm -> bind(norm, layer);
            case Op.Linear linear -> bind(linear, layer);
            case Op.Rotary rotary -> bind(rotary);
            case Op.CacheAppend append -> bind(append);
            case Op.AttentionScores scores -> bind(scores);
            case Op.Softmax softmax -> bind(softmax);
            case Op.AttentionOutput attention -> bind(attention);
            case Op.SwiGlu swiGlu -> bind(swiGlu);
            case Op.SelectRows select -> bind(select);
        };
    }

    private Step bind(Op.TokenEmbedding embedding) {
        Weight table = embedding.table();
        HostMatrix matrix = matrix(table, 0);
        float[] out = fresh(embedding.output());
        float[] dOut = gradient(embedding.output());
        float[] dTable = gradients.layer(table, 0);
        return new Step(() -> ops.tokenEmbedding(matrix, tokens, rows, out), () -> {
            backwardOps.tokenEmbedding(tokens, rows, table.rows(), table.columns(), dOut, dTable);
            clear(dOut, table.rows());
        });
    }

    private Step bind(Op.PositionEmbedding embedding) {
        int width = embedding.output().width();
        float[] table = weights.layer(embedding.table(), 0);
        float[] out = current.get(embedding.output());
        float[] dOut = gradient(embedding.output());
        float[] dTable = gradients.layer(embedding.table(), 0);
        return new Step(
                () -> ops.positionEmbedding(table, 0, rows, width, out),
                () -> backwardOps.positionEmbedding(rows, width, dOut, dTable));
    }

    private Step bind(Op.LayerNorm norm, int layer) {
        int width = norm.output().width();
        float epsilon = norm.epsilon();
        float[] in = current.get(norm.input());
        float[] weight = weights.layer(norm.weight(), layer);
        float[] bias = weights.layer(norm.bias(), layer);
        float[] out = fresh(norm.output());
        float[] dIn = gradient(norm.input());
        float[] dWeight = gradients.layer(norm.weight(), layer);
        float[] dBias = gradients.layer(norm.bias(), layer);
        float[] dOut = gradient(norm.output());
        return new Step(() -> ops.layerNorm(in, weight, bias, epsilon, rows, width, out), () -> {
            backwardOps.layerNorm(in, weight, epsilon, rows, width, dOut, dIn, dWeight, dBias);
            clear(dOut, width);
        });
    }

    private Step bind(Op.RmsNorm norm, int layer) {
        int width = norm.output().width();
        float epsilon = norm.epsilon();
        float[] in = current.get(norm.input());
        float[] weight = weights.layer(norm.weight(), layer);
        float[] out = fresh(norm.output());
        float[] dIn = gradient(norm.input());
        float[] dWeight = gradients.layer(norm.weight(), layer);
        float[] dOut = gradient(norm.output());
        return new Step(() -> ops.rmsNorm(in, weight, epsilon, rows, width, out), () -> {
            backwardOps.rmsNorm(in, weight, epsilon, rows, width, dOut, dIn, dWeight);
            clear(dOut, width);
        });
    }

    private Step bind(Op.Linear linear, int layer) {
        float[] in = current.get(linear.input());
        if (linear.addsToOutput()) {
            return bindResidual(linear, layer, in);
        }
        HostMatrix weight = matrix(linear.weight(), layer);
        float[] bias = linear.bias().map(each -> weights.layer(each, layer)).orElse(null);
        int width = linear.output().width();
        float[] dOut = gradient(linear.output());
        Runnable gradientsOfSum = linearGradients(linear, layer, in);
        Activation activation = linear.activation();
        float[] out = fresh(linear.output());
        if (activation == Activation.NONE) {
            return new Step(() -> ops.linear(in, weight, bias, activation, false, rows, out), () -> {
                gradientsOfSum.run();
                clear(dOut, width);
            });
        }
        float[] sum = newArray(linear.output());
        return new Step(
                () -> {
                    ops.linear(in, weight, bias, Activation.NONE, false, rows, sum);
                    backwardOps.activate(activation, rows * width, sum, out);
                },
                () -> {
                    backwardOps.activation(activation, rows * width, sum, dOut, dOut);
                    gradientsOfSum.run();
                    clear(dOut, width);
                });
    }

    /** The gradient of a residual stream passes on unchanged to what the branch was added to. */
    private Step bindResidual(Op.Linear linear, int layer, float[] in) {
        if (linear.activation() != Activation.NONE) {
            throw new IllegalArgumentException("Op " + linear.name() + " activates what it adds to its output");
        }
        HostMatrix weight = matrix(linear.weight(), layer);
        float[] bias = linear.bias().map(each -> weights.layer(each, layer)).orElse(null);
        int width = linear.output().width();
        float[] before = current.get(linear.output());
        float[] after = fresh(linear.output());
        return new Step(
                () -> {
                    System.arraycopy(before, 0, after, 0, rows * width);
                    ops.linear(in, weight, bias, linear.activation(), true, rows, after);
                },
                linearGradients(linear, layer, in));
    }

    private Runnable linearGradients(Op.Linear linear, int layer, float[] in) {
        HostMatrix weight = matrix(linear.weight(), layer);
        float[] dIn = gradient(linear.input());
        float[] dOut = gradient(linear.output());
        float[] dWeight = gradients.layer(linear.weight(), layer);
        float[] dBias = linear.bias().map(each -> gradients.layer(each, layer)).orElse(null);
        return () -> {
            backwardOps.linearInput(weight, rows, dOut, dIn);
            backwardOps.linearWeight(in, rows, weight.rows(), weight.columns(), dOut, dWeight);
            if (dBias != null) {
                backwardOps.linearBias(rows, weight.columns(), dOut, dBias);
            }
        };
    }

    private Step bind(Op.Rotary rotary) {
        float[] qkv = current.get(rotary.output());
        float[] dQkv = gradient(rotary.output());
        return new Step(
                () -> ops.rotary(rotary.shape(), rotary.table(), 0, rows, qkv),
                () -> backwardOps.rotary(rotary.shape(), rotary.table(), rows, dQkv));
    }

    /**
     * One layer's cache serves all: nothing reads it after the layer's attention. The gradients of keys and values go
     * straight to the projection they are copies of.
     */
    private Step bind(Op.CacheAppend append) {
        float[] qkv = current.get(append.qkv());
        cached = append.qkv();
        return new Step(() -> ops.cacheAppend(append.shape(), qkv, 0, rows, keys, values), () -> {});
    }

    private Step bind(Op.AttentionScores attention) {
        AttentionShape shape = attention.shape();
        float[] qkv = current.get(attention.qkv());
        float[] out = fresh(attention.output());
        float[] dScores = gradient(attention.output());
        float[] dQkv = gradient(attention.qkv());
        return new Step(
                () -> ops.attentionScores(shape, attention.scale(), qkv, keys, 0, rows, out),
                () -> backwardOps.attentionScores(shape, attention.scale(), qkv, rows, dScores, dQkv));
    }

    private Step bind(Op.Softmax softmax) {
        float[] probabilities = current.get(softmax.output());
        float[] dScores = gradient(softmax.output());
        return new Step(
                () -> ops.softmax(softmax.shape(), 0, rows, probabilities),
                () -> backwardOps.softmax(softmax.shape(), probabilities, rows, dScores));
    }

    private Step bind(Op.AttentionOutput attention) {
        AttentionShape shape = attention.shape();
        float[] probabilities = current.get(attention.probabilities());
        float[] qkv = current.get(cached);
        float[] out = fresh(attention.output());
        float[] dOut = gradient(attention.output());
        float[] dProbabilities = gradient(attention.probabilities());
        float[] dQkv = gradient(cached);
        return new Step(() -> ops.attentionOutput(shape, probabilities, values, 0, rows, out), () -> {
            backwardOps.attentionOutput(shape, probabilities, qkv, rows, dOut, dProbabilities, dQkv);
            clear(dOut, shape.queryWidth());
        });
    }

    private Step bind(Op.SwiGlu swiGlu) {
        int width = swiGlu.output().width();
        float[] gateUp = current.get(swiGlu.gateUp());
        float[] out = fresh(swiGlu.output());
        float[] dOut = gradient(swiGlu.output());
        float[] dGateUp = gradient(swiGlu.gateUp());
        return new Step(() -> ops.swiGlu(gateUp, rows, width, out), () -> {
            backwardOps.swiGlu(gateUp, rows, width, dOut, dGateUp);
            clear(dOut, width);
        });
    }

    /** Every row has a target, so every row's logits are wanted. */
    private Step bind(Op.SelectRows select) {
        int width = select.output().width();
        float[] in = current.get(select.input());
        float[] out = fresh(select.output());
        float[] dOut = gradient(select.output());
        float[] dIn = gradient(select.input());
        return new Step(() -> System.arraycopy(in, 0, out, 0, rows * width), () -> {
            backwardOps.selectRows(rows * width, dOut, dIn);
            clear(dOut, width);
        });
    }

    /** A layer of a weight as a matrix of the interpreter. */
    private HostMatrix matrix(Weight weight, int layer) {
        MemorySegment elements = MemorySegment.ofArray(weights.layer(weight, layer));
        return new HostMatrix(DType.F32, weight.rows(), weight.columns(), elements, MemorySegment.NULL);
    }

    private float[] newArray(Buffer buffer) {
        return new float[Math.multiplyExact(buffer.width(), program.contextLength())];
    }

    /** The array that later Ops find as the buffer's. */
    private float[] fresh(Buffer buffer) {
        float[] array = newArray(buffer);
        current.put(buffer, array);
        return array;
    }

    private float[] gradient(Buffer buffer) {
        return bufferGradients.computeIfAbsent(buffer, this::newArray);
    }

    /** What an Op replaced gets no gradient from before the Op. */
    private void clear(float[] gradient, int width) {
        Arrays.fill(gradient, 0, rows * width, 0f);
    }

    /** An Op of a layer, bound to its arrays. */
    private record Step(Runnable forward, Runnable backward) {}
}
