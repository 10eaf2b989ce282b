package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.training.Trainer;
import io.github.tornadotransformers.training.TrainingText;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.nio.file.Path;

/** What {@code train --json} prints. */
final class TrainingReport {
    private TrainingReport() {}

    static ObjectNode json(Trainer trainer, TrainingText text, Path out) {
        LossHistory history = trainer.history();
        LossHistory.Validation best = history.best();
        ObjectNode object = Json.object()
                .put("folder", out.toString())
                .put("steps", trainer.steps())
                .put("training_tokens", text.trainingTokens())
                .put("validation_tokens", text.validationTokens());
        object.put(
                "training_loss",
                history.training().isEmpty() ? null : history.training().getLast());
        object.put("best_step", best == null ? null : Integer.valueOf(best.step()));
        object.put("best_validation_loss", best == null ? null : Double.valueOf(best.loss()));
        return object.put("best_nats_per_byte", best == null ? null : Double.valueOf(text.perByte(best.loss())));
    }
}
