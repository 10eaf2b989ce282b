package io.github.tornadotransformers.training;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.SafetensorsFile;
import io.github.tornadotransformers.models.checkpoint.StoredTensor;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Where a run was when it wrote its state: settings and losses, which are read at once, and the weights and the optimizer's
 * means, which are read into a trainer.
 */
public final class TrainingState {
    private static final String SETTINGS = "settings";
    private static final String TEXT = "text";
    private static final String TRAINING = "training_losses";
    private static final String VALIDATION = "validation_losses";
    private static final String SQUARE = "square";
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .build();

    private final SafetensorsFile file;
    private final TrainingSettings settings;
    private final LossHistory history;

    private TrainingState(SafetensorsFile file, TrainingSettings settings, LossHistory history) {
        this.file = file;
        this.settings = settings;
        this.history = history;
    }

    /** @throws CheckpointException if settings or losses are not what a run writes */
    static TrainingState of(SafetensorsFile file) {
        try {
            TrainingSettings settings = JSON.treeToValue(json(file, SETTINGS), TrainingSettings.class);
            if (settings == null || !file.metadata().containsKey(TEXT)) {
                throw damaged(file, settings == null ? SETTINGS : TEXT, null);
            }
            return new TrainingState(file, settings, LossHistory.of(training(file), validation(file)));
        } catch (JacksonException | IllegalArgumentException e) {
            throw damaged(file, SETTINGS, e);
        }
    }

    private static List<Double> training(SafetensorsFile file) {
        List<Double> losses = new ArrayList<>();
        for (JsonNode loss : array(file, TRAINING)) {
            losses.add(loss(file, TRAINING, loss));
        }
        return losses;
    }

    /** Each of a step that was taken, one after the other. */
    private static List<LossHistory.Validation> validation(SafetensorsFile file) {
        int taken = array(file, TRAINING).size();
        List<LossHistory.Validation> losses = new ArrayList<>();
        int before = 0;
        for (JsonNode each : array(file, VALIDATION)) {
            JsonNode step = each.path("step");
            if (!step.canConvertToExactIntegral() || step.longValue() <= before || step.longValue() > taken) {
                throw damaged(file, VALIDATION, null);
            }
            before = step.intValue();
            losses.add(new LossHistory.Validation(before, loss(file, VALIDATION, each.path("loss"))));
        }
        return losses;
    }

    private static double loss(SafetensorsFile file, String key, JsonNode loss) {
        if (!loss.isNumber() || !Double.isFinite(loss.doubleValue())) {
            throw damaged(file, key, null);
        }
        return loss.doubleValue();
    }

    private static JsonNode json(SafetensorsFile file, String key) {
        try {
            return JSON.readTree(file.metadata().getOrDefault(key, ""));
        } catch (JacksonException e) {
            throw damaged(file, key, e);
        }
    }

    private static JsonNode array(SafetensorsFile file, String key) {
        JsonNode json = json(file, key);
        if (!json.isArray()) {
            throw damaged(file, key, null);
        }
        return json;
    }

    private static CheckpointException damaged(SafetensorsFile file, String what, Exception cause) {
        return new CheckpointException(
                Quoted.path(file.file()) + " is damaged: its " + Quoted.text(what)
                        + " is not what a training run writes",
                cause);
    }

    static Map<String, String> metadata(Trainer trainer) throws JacksonException {
        return Map.of(
                SETTINGS, JSON.writeValueAsString(trainer.settings()),
                TEXT, trainer.text().digest(),
                TRAINING, JSON.writeValueAsString(trainer.history().training()),
                VALIDATION, JSON.writeValueAsString(trainer.history().validation()));
    }

    static Map<String, ParameterArrays> parts(Trainer trainer) {
        return Map.of(
                "weights",
                trainer.weights(),
                "mean",
                trainer.optimizer().mean(),
                SQUARE,
                trainer.optimizer().square());
    }

    static String tensorName(String part, Weight weight, int layer) {
        return part + "." + weight.name() + "." + layer;
    }

    /** The losses so far. */
    LossHistory history() {
        return history;
    }

    /** Steps taken. */
    public int steps() {
        return history.training().size();
    }

    public TrainingSettings settings() {
        return settings;
    }

    /**
     * @param nameOf what the user calls a component of {@link TrainingSettings}
     * @throws TrainingException if the run is of other settings or another text; says which
     */
    public void requireSame(TrainingSettings now, TrainingText text, UnaryOperator<String> nameOf) {
        ObjectNode then = JSON.valueToTree(settings);
        List<String> changes = new ArrayList<>();
        JSON.<ObjectNode>valueToTree(now).properties().forEach(each -> {
            String before = Quoted.line(then.path(each.getKey()).asText());
            if (!each.getValue().asText().equals(before)) {
                changes.add(nameOf.apply(each.getKey()) + " was " + before + " and is "
                        + each.getValue().asText());
            }
        });
        if (!text.digest().equals(file.metadata().get(TEXT))) {
            changes.add("the text or its tokenizer is another");
        }
        if (!changes.isEmpty()) {
            throw new TrainingException("the run in " + Quoted.path(file.file().getParent()) + " cannot be resumed: "
                    + String.join("; ", changes));
        }
    }

    /**
     * Puts a trainer where the run was.
     *
     * @throws CheckpointException if the state cannot be read, is damaged or is of another model
     * @throws TrainingException if it is of other settings or another text
     */
    public void restore(Trainer trainer) {
        requireSame(trainer.settings(), trainer.text(), UnaryOperator.identity());
        parts(trainer).forEach(this::readTensors);
        history.training().forEach(trainer.history()::addTraining);
        history.validation().forEach(each -> trainer.history().addValidation(each.step(), each.loss()));
        trainer.resumeAt(steps());
    }

    private void readTensors(String part, ParameterArrays arrays) {
        for (Weight weight : arrays.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                String name = tensorName(part, weight, layer);
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
                if (part.equals(SQUARE)) {
                    requireSquares(name, to);
                }
            }
        }
    }

    private void requireSquares(String name, float[] values) {
        for (int i = 0; i < values.length; i++) {
            if (!(values[i] >= 0)) {
                throw damaged(file, name + "[" + i + "] = " + values[i], null);
            }
        }
    }
}
