package io.github.tornadotransformers.models.learning;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.program.Program;

/**
 * The loss of sequences and its gradients, on one engine. A batch is run sequence by sequence, and gradients add up in that
 * order; every engine gives the same bits.
 *
 * <p>Weights and gradients are arrays of the caller. An engine with memory of its own works on copies: {@link #begin} takes the
 * weights over, {@link #readGradients} and {@link #readWeights} bring results back.
 */
public interface GradientPass extends AutoCloseable {
    /** For sequences of at most its context. */
    Program program();

    ParameterArrays weights();

    ParameterArrays gradients();

    /** Takes the weights as they are now, and sets all gradients to 0: comes first, and after the caller has changed weights. */
    void begin();

    /**
     * The sum of the losses {@code -log p(targets[r] | tokens[0 .. r])}, natural logarithm, in double.
     *
     * @throws InvalidRequest if the sequence is empty, longer than the context, or has an id that is not in the
     *     vocabulary
     */
    double loss(int[] tokens, int[] targets);

    /**
     * As {@link #loss}, and adds the gradients of {@code scale} times the sum.
     *
     * @param scale 1 over the number of targets in the whole batch, for the gradient of their mean loss
     */
    double lossAndGradients(int[] tokens, int[] targets, float scale);

    /** Brings what gradients add up to into {@link #gradients}. */
    void readGradients();

    /** {@code weights[i] += -learningRate * gradients[i]}, fused. */
    void descend(float learningRate);

    /** Brings the weights into {@link #weights}, after {@link #descend}. */
    void readWeights();

    /** Frees what the engine holds. */
    @Override
    void close();

    /** @throws InvalidRequest if the program cannot run the sequence; says what was found and expected */
    static void requireSequence(Program program, int[] tokens, int[] targets) {
        if (tokens.length == 0 || tokens.length > program.contextLength()) {
            throw new InvalidRequest(
                    "a sequence of " + tokens.length + " tokens, expected 1 to " + program.contextLength());
        }
        if (targets.length != tokens.length) {
            throw new InvalidRequest(targets.length + " targets for " + tokens.length + " tokens");
        }
        requireIds(program, tokens);
        requireIds(program, targets);
    }

    private static void requireIds(Program program, int[] ids) {
        for (int id : ids) {
            if (id < 0 || id >= program.vocabSize()) {
                throw new InvalidRequest("token id " + id + " is not in the vocabulary of " + program.vocabSize());
            }
        }
    }
}
