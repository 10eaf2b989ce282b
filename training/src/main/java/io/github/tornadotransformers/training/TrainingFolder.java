package io.github.tornadotransformers.training;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.CheckpointWriter;
import io.github.tornadotransformers.models.checkpoint.SafetensorsFile;
import io.github.tornadotransformers.models.checkpoint.SafetensorsWriter;
import io.github.tornadotransformers.models.checkpoint.StoredTensor;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.training.losses.LossCurve;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Where a run leaves its model and what it needs to go on. Every file appears whole or not at all, so that a crash loses at
 * most the steps since the last one.
 */
public final class TrainingFolder {
    /** The weights in float32, the optimizer's means, the losses and the settings. */
    private static final String STATE = "training-state.safetensors";

    private static final String CURVE = "loss-curve.png";
    private static final String SETTINGS = "settings";
    private static final String TEXT = "text";
    private static final String TRAINING = "training_losses";
    private static final String VALIDATION = "validation_losses";
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;

    public TrainingFolder(Path folder) {
        this.folder = folder;
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
        writing("the loss curve", () -> WholeFile.write(folder.resolve(CURVE), LossCurve.png(history)));
    }

    /** @throws TrainingException if it cannot be written; an older one is then as it was */
    public void saveState(Trainer trainer) {
        List<SafetensorsWriter.Tensor> tensors = new ArrayList<>();
        parts(trainer).forEach((part, arrays) -> addTensors(part, arrays, tensors));
        writing("the state of step " + trainer.steps(), () -> {
            Map<String, String> metadata = Map.of(
                    SETTINGS, JSON.writeValueAsString(trainer.settings()),
                    TEXT, trainer.text().digest(),
                    TRAINING, JSON.writeValueAsString(trainer.history().training()),
                    VALIDATION, JSON.writeValueAsString(trainer.history().validation()));
            SafetensorsWriter.write(folder.resolve(STATE), metadata, tensors);
        });
    }

    private static Map<String, ParameterArrays> parts(Trainer trainer) {
        return Map.of(
                "weights", trainer.weights(),
                "mean", trainer.optimizer().mean(),
                "square", trainer.optimizer().square());
    }

    private static void addTensors(String part, ParameterArrays arrays, List<SafetensorsWriter.Tensor> tensors) {
        for (Weight weight : arrays.weights()) {
            List<Long> shape = List.of((long) weight.rows(), (long) weight.columns());
            for (int layer = 0; layer < weight.layers(); layer++) {
                float[] values = arrays.layer(weight, layer);
                tensors.add(new SafetensorsWriter.Tensor(
                        name(part, weight, layer),
                        StoredType.F32,
                        shape,
                        (first, to, count) -> System.arraycopy(values, (int) first, to, 0, count)));
            }
        }
    }

    private static String name(String part, Weight weight, int layer) {
        return part + "." + weight.name() + "." + layer;
    }

    /**
     * Puts a run where it was when its state was written.
     *
     * @throws CheckpointException if the state cannot be read or is of another model
     * @throws TrainingException if it is of other settings or another text
     */
    public void restore(Trainer trainer) {
        SafetensorsFile file = SafetensorsFile.open(folder.resolve(STATE));
        requireSame(file, trainer);
        parts(trainer).forEach((part, arrays) -> readTensors(file, part, arrays));
        ArrayNode training = losses(file, TRAINING);
        training.forEach(loss -> trainer.history().addTraining(loss.doubleValue()));
        losses(file, VALIDATION)
                .forEach(loss -> trainer.history()
                        .addValidation(
                                loss.path("step").intValue(), loss.path("loss").doubleValue()));
        trainer.resumeAt(training.size());
    }

    private static void requireSame(SafetensorsFile file, Trainer trainer) {
        ObjectNode now = JSON.valueToTree(trainer.settings());
        JsonNode then = json(file, SETTINGS);
        List<String> changes = new ArrayList<>();
        now.fieldNames().forEachRemaining(field -> {
            if (!now.get(field).asText().equals(then.path(field).asText())) {
                changes.add(field + " was " + then.path(field).asText("unknown") + " and is "
                        + now.get(field).asText());
            }
        });
        if (!trainer.text().digest().equals(file.metadata().get(TEXT))) {
            changes.add("the text or its tokenizer is another");
        }
        if (!changes.isEmpty()) {
            throw new TrainingException("the run in " + Quoted.path(file.file().getParent()) + " cannot be resumed: "
                    + String.join("; ", changes));
        }
    }

    private static JsonNode json(SafetensorsFile file, String key) {
        try {
            return JSON.readTree(file.metadata().getOrDefault(key, ""));
        } catch (JacksonException e) {
            throw broken(file, key, e);
        }
    }

    private static ArrayNode losses(SafetensorsFile file, String key) {
        if (json(file, key) instanceof ArrayNode array) {
            return array;
        }
        throw broken(file, key, null);
    }

    private static CheckpointException broken(SafetensorsFile file, String key, Exception cause) {
        return new CheckpointException(
                Quoted.path(file.file()) + ": its \"" + key + "\" is not what a training run writes", cause);
    }

    private static void readTensors(SafetensorsFile file, String part, ParameterArrays arrays) {
        for (Weight weight : arrays.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                String name = name(part, weight, layer);
                List<Long> shape = List.of((long) weight.rows(), (long) weight.columns());
                StoredTensor tensor = file.tensors().get(name);
                if (tensor == null
                        || !tensor.shape().equals(shape)
                        || !tensor.dtype().equals(StoredType.F32.name())) {
                    String found = tensor == null ? "missing" : tensor.dtype() + " " + tensor.shape();
                    throw new CheckpointException(Quoted.path(file.file()) + ": tensor " + Quoted.text(name) + " is "
                            + found + ", expected F32 " + shape + ": it is the state of another model");
                }
                float[] to = arrays.layer(weight, layer);
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment.copy(tensor.read(arena), FLOATS, 0, to, 0, to.length);
                }
            }
        }
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
