package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Logits;
import io.github.tornadotransformers.models.generation.TraceListener;
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
    private final boolean everyOp;
    private final Map<String, Long> nanos = new HashMap<>();

    /** @param everyOp whether every Op's output is compared, or the default trace points */
    public EngineCheck(Subject reference, List<Subject> others, boolean everyOp) {
        this.reference = reference;
        this.others = List.copyOf(others);
        this.everyOp = everyOp;
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
            StepTrace expected = new StepTrace(reference.forward().program(), everyOp);
            int chosen = forward(reference, tokens, position, expected);
            int last = position + tokens.length - 1;
            for (int i = 0; i < others.size(); i++) {
                StepTrace actual = new StepTrace(others.get(i).forward().program(), everyOp);
                int token = forward(others.get(i), tokens, position, actual);
                comparisons.get(i).compare(step, expected, actual);
                comparisons.get(i).compareToken(step, last, chosen, token);
            }
            position += tokens.length;
            tokens = new int[] {chosen};
        }
        return comparisons;
    }

    /** What the forward passes of each engine have taken so far, tracing included. */
    public Map<String, Long> forwardNanos() {
        return Map.copyOf(nanos);
    }

    private int forward(Subject subject, int[] tokens, int position, StepTrace trace) {
        subject.forward().trace(trace);
        long started = System.nanoTime();
        float[] logits = subject.forward().forward(tokens, position);
        nanos.merge(subject.name(), System.nanoTime() - started, Long::sum);
        subject.forward().trace(TraceListener.NONE);
        return Logits.argmax(logits, subject.forward().program().vocabSize());
    }
}
