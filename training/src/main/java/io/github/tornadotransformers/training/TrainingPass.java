package io.github.tornadotransformers.training;

import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.host.OpLoop;
import io.github.tornadotransformers.host.OpRows;
import io.github.tornadotransformers.host.OpWeights;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Effect;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The loss of one sequence and its gradients: every Op forward, keeping what its gradient will need, then every Op's
 * gradient in reverse. A batch is run sequence by sequence; gradients add up in that order, and within a sequence from the
 * head to the embedding, so that their bits are always the same.
 *
 * <p>A buffer of the program is an array that its Ops write again and again; here an Op that replaces it, or adds to it,
 * gets a fresh array, so that each layer's are still there on the way back. What works in place needs only what it leaves.
 * One layer's cache serves all: nothing reads it after the layer's attention. Gradients of buffers are needed once: there is
 * one array of each, all zero between sequences.
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
    private final KvLayer cache;
    private final float[] logits;
    private Buffer cached;
    private float[] activated;
    private int[] tokens;
    private int rows;
    private BatchRows batch;

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
        int cacheSize = Math.toIntExact(program.attention().cacheLayerSize());
        cache = KvLayer.contiguous(program.attention(), new float[cacheSize], new float[cacheSize]);
        program.whyNotLearned().ifPresent(reason -> {
            throw new IllegalArgumentException("a program that cannot be trained: " + reason);
        });
        bind(program.embedding(), 0);
        for (int layer = 0; layer < program.layers(); layer++) {
            bind(program.blocks().get(layer).ops(), layer);
        }
        bind(program.head(), 0);
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
        batch = BatchRows.of(0, rows, cache);
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

    private void bind(List<Op> ops, int layer) {
        OpWeights layerWeights = new LayerWeights(layer);
        for (Op op : ops) {
            float[] input = current.get(op.reads().orElse(op.output()));
            Runnable forward = forward(op, layerWeights);
            steps.add(new Step(forward, backward(op, layerWeights, layer, input)));
        }
    }

    /** What an Op writes is a fresh array, unless it works in place. */
    private Runnable forward(Op op, OpWeights layerWeights) {
        if (op instanceof Op.Linear linear && linear.activation() != Activation.NONE) {
            return activatedForward(linear, layerWeights);
        }
        Optional<float[]> input = op.reads().map(current::get);
        float[] before = current.get(op.output());
        float[] output = switch (op.effect()) {
            case OVERWRITES, ADDS -> fresh(op.output());
            case IN_PLACE, STORES -> before;
        };
        OpLoop loop = OpLoop.of(op, layerWeights);
        OpRows at = new OpRows().use(input.orElse(output), output);
        if (op instanceof Op.CacheAppend append) {
            cached = append.qkv();
        }
        int width = op.output().width();
        boolean keeps = op.effect() == Effect.ADDS;
        return () -> {
            if (keeps) {
                System.arraycopy(before, 0, output, 0, rows * width);
            }
            loop.run(ops, at.at(tokens, batch));
        };
    }

    /** Keeps what goes into the activation. */
    private Runnable activatedForward(Op.Linear linear, OpWeights layerWeights) {
        float[] input = current.get(linear.input());
        float[] sum = newArray(linear.output());
        float[] output = fresh(linear.output());
        activated = sum;
        OpLoop loop = OpLoop.of(linear.withoutActivation(), layerWeights);
        OpRows at = new OpRows().use(input, sum);
        int width = linear.output().width();
        return () -> {
            loop.run(ops, at.at(tokens, batch));
            backwardOps.activate(linear.activation(), rows * width, sum, output);
        };
    }

    /** @param in what the Op read going forward */
    private Runnable backward(Op op, OpWeights layerWeights, int layer, float[] in) {
        int width = op.output().width();
        float[] dOut = gradient(op.output());
        Runnable gradients = switch (op) {
            case Op.TokenEmbedding embedding -> {
                Weight table = embedding.table();
                float[] dTable = gradient(table, layer);
                yield () -> backwardOps.tokenEmbedding(tokens, rows, table.rows(), table.columns(), dOut, dTable);
            }
            case Op.PositionEmbedding embedding -> {
                float[] dTable = gradient(embedding.table(), layer);
                yield () -> backwardOps.positionEmbedding(rows, width, dOut, dTable);
            }
            case Op.LayerNorm norm -> {
                float[] weight = layerWeights.vector(norm.weight());
                float[] dIn = gradient(norm.input());
                float[] dWeight = gradient(norm.weight(), layer);
                float[] dBias = gradient(norm.bias(), layer);
                yield () -> backwardOps.layerNorm(in, weight, norm.epsilon(), rows, width, dOut, dIn, dWeight, dBias);
            }
            case Op.RmsNorm norm -> {
                float[] weight = layerWeights.vector(norm.weight());
                float[] dIn = gradient(norm.input());
                float[] dWeight = gradient(norm.weight(), layer);
                yield () -> backwardOps.rmsNorm(in, weight, norm.epsilon(), rows, width, dOut, dIn, dWeight);
            }
            case Op.Linear linear -> linearGradients(linear, layerWeights, layer, in);
            case Op.Rotary rotary -> () -> backwardOps.rotary(rotary.shape(), rotary.table(), rows, dOut);
            // The gradients of keys and values go straight to the projection that they are copies of.
            case Op.CacheAppend _ -> () -> {};
            case Op.AttentionScores scores -> {
                float[] dQkv = gradient(scores.qkv());
                float scale = scores.scaling().factor();
                yield () -> backwardOps.attentionScores(scores.shape(), scale, in, rows, dOut, dQkv);
            }
            case Op.Softmax softmax -> {
                float[] probabilities = current.get(softmax.output());
                yield () -> backwardOps.softmax(softmax.shape(), probabilities, rows, dOut);
            }
            case Op.AttentionOutput attention -> {
                float[] qkv = current.get(cached);
                float[] dProbabilities = gradient(attention.probabilities());
                float[] dQkv = gradient(cached);
                yield () -> backwardOps.attentionOutput(attention.shape(), in, qkv, rows, dOut, dProbabilities, dQkv);
            }
            case Op.GatedMlp mlp -> {
                float[] dGateUp = gradient(mlp.gateUp());
                yield () -> backwardOps.swiGlu(in, rows, width, dOut, dGateUp);
            }
            case Op.Scale scale -> throw new IllegalArgumentException(scale.name() + " has no gradient");
            // Every row has a target, so every row's logits are wanted.
            case Op.SelectRows select -> {
                float[] dIn = gradient(select.input());
                yield () -> backwardOps.selectRows(rows * width, dOut, dIn);
            }
        };
        if (op.effect() != Effect.OVERWRITES || op instanceof Op.AttentionScores) {
            return gradients; // passed on to what was there before; those of scores, all written anew
        }
        return () -> {
            gradients.run();
            Arrays.fill(dOut, 0, rows * width, 0f); // what was there before gets none
        };
    }

    private Runnable linearGradients(Op.Linear linear, OpWeights layerWeights, int layer, float[] in) {
        HostMatrix weight = layerWeights.matrix(linear.weight());
        float[] dIn = gradient(linear.input());
        float[] dOut = gradient(linear.output());
        float[] dWeight = gradient(linear.weight(), layer);
        float[] dBias = linear.bias().map(each -> gradient(each, layer)).orElse(null);
        float[] sum = linear.activation() == Activation.NONE ? null : activated;
        return () -> {
            if (sum != null) {
                backwardOps.activation(linear.activation(), rows * weight.columns(), sum, dOut, dOut);
            }
            backwardOps.linearInput(weight, rows, dOut, dIn);
            backwardOps.linearWeight(in, rows, weight.rows(), weight.columns(), dOut, dWeight);
            if (dBias != null) {
                backwardOps.linearBias(rows, weight.columns(), dOut, dBias);
            }
        };
    }

    private float[] gradient(Weight weight, int layer) {
        return gradients.layer(weight, LayerWeights.index(weight, layer));
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

    /** One layer of the parameters, as the interpreter wants them. */
    private final class LayerWeights implements OpWeights {
        private final int layer;

        LayerWeights(int layer) {
            this.layer = layer;
        }

        static int index(Weight weight, int layer) {
            return weight.layers() == 1 ? 0 : layer;
        }

        @Override
        public HostMatrix matrix(Weight weight) {
            MemorySegment elements = MemorySegment.ofArray(vector(weight));
            return new HostMatrix(DType.F32, weight.rows(), weight.columns(), elements, MemorySegment.NULL);
        }

        @Override
        public float[] vector(Weight weight) {
            return weights.layer(weight, index(weight, layer));
        }
    }

    /** An Op of a layer, bound to its arrays. */
    private record Step(Runnable forward, Runnable backward) {}
}
