package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Computes nothing: gives losses and one gradient that the test sets, and remembers what it was called with. Like an engine with
 * memory of its own it keeps gradients until they are read, and works with the weights that it took over.
 */
final class RecordingPass implements GradientPass {
    private final Program program;
    private final ParameterArrays weights;
    private final ParameterArrays gradients;
    private final List<List<Integer>> windows = new ArrayList<>();
    private final List<Float> scales = new ArrayList<>();
    private float[] begunWith = {};
    private float kept;
    private double loss;
    private float gradient;

    RecordingPass(Program program) {
        this.program = program;
        weights = new ParameterArrays(program);
        gradients = new ParameterArrays(program);
    }

    /**
     * @param loss of every sequence
     * @param gradient that each sequence adds to the first number of the first weight
     */
    RecordingPass giving(double loss, float gradient) {
        this.loss = loss;
        this.gradient = gradient;
        return this;
    }

    /** Inputs and last target of each sequence, as a window has them. */
    List<List<Integer>> windows() {
        return windows;
    }

    /** Of each sequence whose gradients were asked for. */
    List<Float> scales() {
        return scales;
    }

    static float[] first(ParameterArrays arrays) {
        return arrays.layer(arrays.weights().getFirst(), 0);
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
        begunWith = first(weights).clone();
        kept = 0;
    }

    @Override
    public double loss(int[] tokens, int[] targets) {
        GradientPass.requireSequence(program, tokens, targets);
        if (!Arrays.equals(begunWith, first(weights))) {
            throw new IllegalStateException("the weights have changed since they were taken over");
        }
        IntStream shifted = IntStream.range(0, tokens.length - 1).filter(i -> tokens[i + 1] != targets[i]);
        if (shifted.findAny().isPresent()) {
            throw new IllegalArgumentException("the targets are not the tokens that follow");
        }
        windows.add(IntStream.concat(IntStream.of(tokens), IntStream.of(targets[targets.length - 1]))
                .boxed()
                .toList());
        return loss;
    }

    @Override
    public double lossAndGradients(int[] tokens, int[] targets, float scale) {
        scales.add(scale);
        kept += gradient;
        return loss(tokens, targets);
    }

    @Override
    public void readGradients() {
        first(gradients)[0] = kept;
    }

    @Override
    public void descend(float learningRate) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void readWeights() {}

    @Override
    public void close() {}
}
