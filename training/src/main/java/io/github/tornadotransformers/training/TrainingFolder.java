package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.CheckpointWriter;
import io.github.tornadotransformers.models.checkpoint.SafetensorsFile;
import io.github.tornadotransformers.models.checkpoint.SafetensorsWriter;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.training.losses.LossCurve;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Where a run leaves its model and what it needs to go on. Every file appears whole or not at all, so that a crash loses at
 * most the steps since the last one.
 */
public final class TrainingFolder {
    /** The weights in float32, the optimizer's means, the losses and the settings. */
    private static final String STATE = "training-state.safetensors";

    private static final String CURVE = "loss-curve.svg";

    private final Path folder;

    public TrainingFolder(Path folder) {
        this.folder = folder;
    }

    /** Whether nothing is here, so that a new run may begin. */
    public boolean isFree() {
        if (!Files.exists(folder)) {
            return true;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.allMatch(entry -> entry.endsWith(TrainingLock.FILE));
        } catch (NotDirectoryException e) {
            return false;
        } catch (IOException e) {
            throw new TrainingException(Quoted.path(folder) + " cannot be read: " + e.getMessage(), e);
        }
    }

    /** Whether a run has left its state here. */
    public boolean holdsRun() {
        return Files.exists(folder.resolve(STATE));
    }

    /**
     * Writes the model as a checkpoint that any tool reads; its config and tokenizer are here already.
     *
     * @throws TrainingException if it cannot be written; an older one is then as it was
     */
    public void saveModel(ModelConfig config, ParameterArrays weights, StoredType type) {
        List<SafetensorsWriter.Tensor> tensors =
                CheckpointTensor.of(config.program(1), UnaryOperator.identity()).stream()
                        .map(tensor -> new SafetensorsWriter.Tensor(
                                tensor.name(),
                                type,
                                tensor.shape(),
                                (first, values, count) -> tensor.read(weights, first, values, count)))
                        .toList();
        writing("the model", () -> CheckpointWriter.writeWeights(folder, config, tensors));
    }

    /** @throws TrainingException if it cannot be written; an older one is then as it was */
    public void saveCurve(LossHistory history) {
        writing(
                "the loss curve",
                () -> WholeFile.write(
                        folder.resolve(CURVE), LossCurve.svg(history).getBytes(StandardCharsets.UTF_8)));
    }

    /** @throws TrainingException if it cannot be written; an older one is then as it was */
    public void saveState(Trainer trainer) {
        List<SafetensorsWriter.Tensor> tensors = new ArrayList<>();
        TrainingState.parts(trainer).forEach((part, arrays) -> addTensors(part, arrays, tensors));
        writing("the state of step " + trainer.steps(), () -> {
            SafetensorsWriter.write(folder.resolve(STATE), TrainingState.metadata(trainer), tensors);
        });
    }

    private static void addTensors(String part, ParameterArrays arrays, List<SafetensorsWriter.Tensor> tensors) {
        for (Weight weight : arrays.weights()) {
            List<Long> shape = List.of((long) weight.rows(), (long) weight.columns());
            for (int layer = 0; layer < weight.layers(); layer++) {
                float[] values = arrays.layer(weight, layer);
                tensors.add(new SafetensorsWriter.Tensor(
                        TrainingState.tensorName(part, weight, layer),
                        StoredType.F32,
                        shape,
                        (first, to, count) -> System.arraycopy(values, (int) first, to, 0, count)));
            }
        }
    }

    /**
     * What a run has left here.
     *
     * @throws CheckpointException if it cannot be read or is damaged
     */
    public TrainingState state() {
        return TrainingState.of(SafetensorsFile.open(folder.resolve(STATE)));
    }

    /** Something that writes a file. */
    @FunctionalInterface
    private interface Writing {
        void run() throws IOException;
    }

    private void writing(String what, Writing writing) {
        try {
            writing.run();
        } catch (IOException e) {
            throw new TrainingException(
                    what + " cannot be written to " + Quoted.path(folder) + ": " + IoReason.of(e)
                            + (holdsRun() ? "; the state written before is kept" : ""),
                    e);
        }
    }
}
