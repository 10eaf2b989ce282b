package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A trainer that leaves its results in a folder, and says how far it is. */
public final class TrainingRun implements Trainer.Observer {
    /** Between lines of progress, but for those of validation. */
    private static final long LINE_NANOS = 10_000_000_000L;

    private final Trainer trainer;
    private final ModelConfig config;
    private final TrainingFolder folder;
    private final Saving saving;
    private final Consumer<String> progress;
    private final Pace pace = new Pace();
    private long lineNanos;
    private volatile int savedAt;

    /**
     * What is written when.
     *
     * @param type of the model's tensors
     * @param every steps between states
     * @param keepsBest whether the model is the one that predicted the validation text best, or the last one
     */
    public record Saving(StoredType type, int every, boolean keepsBest) {}

    /** @param progress gets lines for the user */
    public TrainingRun(
            Trainer trainer, ModelConfig config, TrainingFolder folder, Saving saving, Consumer<String> progress) {
        this.trainer = trainer;
        this.config = config;
        this.folder = folder;
        this.saving = saving;
        this.progress = progress;
    }

    /**
     * Goes on until so many steps have been taken in all, or {@code stop} says so; the step that is running is finished, and
     * the state is written.
     *
     * @throws TrainingException if training diverges or a file cannot be written; what was written before is kept
     */
    public void run(int lastStep, BooleanSupplier stop) {
        lineNanos = System.nanoTime();
        pace.begin(lineNanos);
        savedAt = trainer.steps();
        try {
            trainer.run(lastStep, this, stop);
        } catch (TrainingException e) {
            throw new TrainingException(e.getMessage() + "; " + kept(), e);
        }
        save();
    }

    private String kept() {
        return folder.holdsRun() ? "the state of step " + savedAt + " is kept" : "no state had been written yet";
    }

    @Override
    public void stepped(Trainer trainer, Trainer.Step step) {
        long now = System.nanoTime();
        pace.stepEnded(now);
        if (now - lineNanos > LINE_NANOS) {
            lineNanos = now;
            progress.accept(line(step));
        }
        boolean evaluates = trainer.text().hasValidation()
                && step.index() % trainer.settings().evaluateEvery() == 0;
        if (step.index() % saving.every() == 0 && !evaluates) {
            save();
        }
        pace.begin(System.nanoTime());
    }

    @Override
    public void evaluated(Trainer trainer, LossHistory.Validation validation, boolean best) {
        progress.accept(String.format(
                Locale.ROOT,
                "step %d of %d: validation loss %.4f%s",
                validation.step(),
                trainer.goal(),
                validation.loss(),
                best ? ", the best so far" : ""));
        if (best && saving.keepsBest()) {
            folder.saveModel(config, trainer.weights(), saving.type());
        }
        if (validation.step() % saving.every() == 0) {
            save();
        }
        long now = System.nanoTime();
        pace.evaluationEnded(now);
        pace.begin(now);
    }

    /** After which step the state was written last. */
    public int savedAt() {
        return savedAt;
    }

    private void save() {
        if (!saving.keepsBest() || trainer.history().best() == null) {
            folder.saveModel(config, trainer.weights(), saving.type());
        }
        folder.saveCurve(trainer.history());
        folder.saveState(trainer);
        savedAt = trainer.steps();
    }

    private String line(Trainer.Step step) {
        return String.format(
                Locale.ROOT,
                "step %d of %d: loss %.4f, gradient %.2f, learning rate %.2e, %.0f tokens/s, %s left",
                step.index(),
                trainer.goal(),
                step.loss(),
                step.gradientNorm(),
                step.learningRate(),
                trainer.settings().tokensPerStep() / pace.secondsPerStep(),
                duration(pace.secondsFor(trainer.goal() - step.index(), evaluationsLeft())));
    }

    private int evaluationsLeft() {
        if (!trainer.text().hasValidation()) {
            return 0;
        }
        int every = trainer.settings().evaluateEvery();
        int atEnd = trainer.goal() % every == 0 ? 0 : 1;
        return trainer.goal() / every - trainer.steps() / every + atEnd;
    }

    private static String duration(double seconds) {
        long rounded = Math.round(seconds);
        return rounded < 60
                ? rounded + " s"
                : rounded < 3600
                        ? String.format(Locale.ROOT, "%d:%02d min", rounded / 60, rounded % 60)
                        : String.format(Locale.ROOT, "%d:%02d h", rounded / 3600, rounded / 60 % 60);
    }
}
