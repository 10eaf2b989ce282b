package io.github.tornadotransformers.training.losses;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The losses of a run so far. */
public final class LossHistory {
    private final List<Double> training = new ArrayList<>();
    private final List<Validation> validation = new ArrayList<>();

    /**
     * A loss of the validation text.
     *
     * @param step how many steps had been taken
     */
    public record Validation(int step, double loss) {}

    /** A history that consists of these losses. */
    public static LossHistory of(List<Double> training, List<Validation> validation) {
        LossHistory history = new LossHistory();
        history.training.addAll(training);
        history.validation.addAll(validation);
        return history;
    }

    /** The mean loss of each step's windows, before the step. */
    public List<Double> training() {
        return Collections.unmodifiableList(training);
    }

    public List<Validation> validation() {
        return Collections.unmodifiableList(validation);
    }

    /** The lowest, and the first of equals; null before the first. */
    public Validation best() {
        Validation best = null;
        for (Validation each : validation) {
            if (best == null || each.loss < best.loss) {
                best = each;
            }
        }
        return best;
    }

    public void addTraining(double loss) {
        training.add(loss);
    }

    public void addValidation(int step, double loss) {
        validation.add(new Validation(step, loss));
    }
}
