package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Logits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs engines side by side on the same tokens and compares every trace point of every step. The reference's greedy choice
 * is the next token for all, so that one wrong token does not hide what follows.
 */
public final class EngineCheck {
    /** An engine under test, or the reference. */
    public record Subject(String name, ForwardPass forward, Tolerance tolerance) {}

    private final Subject reference;
    private final List<Subject> others;
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
        List<Comparison> comparisons = new ArrayList<>();
        for (Subject other : others) {
            comparisons.add(new Comparison(reference.name(), other.name(), other.tolerance()));
        }
        int[] tokens = prompt;
        int position = 0;
        for (int step = 0; step < steps; step++) {
            int chosen = forward(reference, tokens, position);
            int last = position + tokens.length - 1;
            for (int i = 0; i < others.size(); i++) {
                int token = forward(others.get(i), tokens, position);
                StepTrace actual = recorders.get(others.get(i).name()).step();
                comparisons.get(i).compare(step, recorders.get(reference.name()).step(), actual);
                comparisons.get(i).compareToken(step, last, chosen, token);
            }
            position += tokens.length;
            tokens = new int[] {chosen};
        }
        return comparisons;
    }

    /** What the forward passes of an engine have taken so far, tracing included. */
    public long forwardNanos(String engine) {
        return recorders.get(engine).nanos();
    }

    private int forward(Subject subject, int[] tokens, int position) {
        Recorder recorder = recorders.get(subject.name());
        float[] logits = recorder.forward(tokens, position);
        return Logits.argmax(logits, recorder.program().vocabSize());
    }
}
