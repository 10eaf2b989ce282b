package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Logits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs engines side by side on the same tokens and compares every trace point of every step. The reference's greedy choice
 * is the next token for all, so that one wrong token does not hide what follows. What a device runs where nothing traces it, which is
 * other kernels and graphs, is compared with the same steps' logits.
 */
public final class EngineCheck {
    /** An engine under test, or the reference. */
    public record Subject(String name, ForwardPass forward, Tolerance tolerance) {}

    /** Before a text: more than the part of a prompt's rows at once that is worth compiling kernels for. */
    private static final int PREPARATION = 130;

    /** What the reference ran, and what came of it. */
    private record Step(int[] tokens, int firstPosition, float[] logits, int chosen) {
        int lastPosition() {
            return firstPosition + tokens.length - 1;
        }
    }

    private final Subject reference;
    private final List<Subject> others;
    private final List<Step> run = new ArrayList<>();
    private final Map<String, Recorder> recorders = new HashMap<>();

    /** @param everyOp whether every Op's output is compared, or the default trace points */
    public EngineCheck(Subject reference, List<Subject> others, boolean everyOp) {
        this.reference = reference;
        this.others = List.copyOf(others);
        recorders.put(reference.name(), new Recorder(reference.forward(), everyOp));
        for (Subject other : others) {
            recorders.put(other.name(), new Recorder(other.forward(), everyOp));
        }
    }

    /** @param steps forward passes: the prompt, then one for each further token; 1 or more */
    public List<Comparison> run(int[] prompt, int steps) {
        run.clear();
        List<Comparison> comparisons = new ArrayList<>();
        for (Subject other : others) {
            comparisons.add(new Comparison(reference.name(), other.name(), other.tolerance()));
        }
        int[] tokens = prompt;
        int position = 0;
        for (int step = 0; step < steps; step++) {
            float[] logits = Arrays.copyOf(forward(reference, tokens, position), vocabSize());
            Step expected = new Step(tokens, position, logits, Logits.argmax(logits, vocabSize()));
            for (int i = 0; i < others.size(); i++) {
                int token = Logits.argmax(forward(others.get(i), tokens, position), vocabSize());
                StepTrace actual = recorders.get(others.get(i).name()).step();
                comparisons.get(i).compare(step, recorders.get(reference.name()).step(), actual);
                comparisons.get(i).compareToken(step, expected.lastPosition(), expected.chosen(), token);
            }
            run.add(expected);
            position += tokens.length;
            tokens = new int[] {expected.chosen()};
        }
        return comparisons;
    }

    /**
     * Runs the steps of the last {@link #run} on an engine that nothing traces, once more, and adds what differs. Its graphs for prompts are
     * made ready before, so that they run however short the prompt is.
     *
     * @param comparison of the same engine
     */
    public void runAsText(ForwardPass untraced, Comparison comparison) {
        int positions = untraced.program().contextLength();
        untraced.forward(new int[Math.min(positions, PREPARATION)], 0);
        for (int step = 0; step < run.size(); step++) {
            Step expected = run.get(step);
            float[] logits = untraced.forward(expected.tokens(), expected.firstPosition());
            comparison.compareText(step, expected.lastPosition(), expected.logits(), logits);
            int token = chosen(untraced, expected);
            comparison.compareTextToken(step, expected.lastPosition(), expected.chosen(), token);
        }
    }

    /** The token of a greedy text, which some devices find themselves. */
    private static int chosen(ForwardPass untraced, Step step) {
        int[] token = new int[1];
        untraced.forward(step.tokens(), step.firstPosition(), 1, new ForwardPass.LogitsSink() {
            @Override
            public void accept(int position, float[] logits, int offset) {
                int vocabSize = untraced.program().vocabSize();
                token[0] = Logits.argmax(Arrays.copyOfRange(logits, offset, offset + vocabSize), vocabSize);
            }

            @Override
            public void acceptCandidates(int position, Candidates found) {
                token[0] = found.ids()[0];
            }
        });
        return token[0];
    }

    /** What the forward passes of an engine have taken so far, tracing included. */
    public long forwardNanos(String engine) {
        return recorders.get(engine).nanos();
    }

    private float[] forward(Subject subject, int[] tokens, int position) {
        return recorders.get(subject.name()).forward(tokens, position);
    }

    private int vocabSize() {
        return reference.forward().program().vocabSize();
    }
}
