package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.checkpoint.RandomTensor;
import io.github.tornadotransformers.models.checkpoint.SafetensorsWriter;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;

/**
 * What Hugging Face's transformers answers, in float64, of a random model that it saved; made by
 * {@code models/src/test/python/make_family_goldens.py}.
 *
 * @param json one of the file's cases
 */
public record FamilyGolden(JsonNode json) {
    /** How the config is spelled. */
    public enum Layout {
        /** As transformers 5 saves it: {@code rope_parameters}, {@code dtype}. */
        TODAYS("config"),

        /** As transformers 4 did: {@code rope_theta}, {@code rope_scaling}, {@code torch_dtype}. */
        OLDER("older_config");

        private final String field;

        Layout(String field) {
            this.field = field;
        }
    }

    /** The committed goldens of a family; none where there is no file. */
    public static List<FamilyGolden> of(String modelType) {
        try (InputStream file = FamilyGolden.class.getResourceAsStream("/goldens/" + modelType + ".json")) {
            return file == null ? List.of() : cases(new ObjectMapper().readTree(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static List<FamilyGolden> read(Path file) {
        try {
            return cases(new ObjectMapper().readTree(file.toFile()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<FamilyGolden> cases(JsonNode file) {
        return StreamSupport.stream(file.get("cases").spliterator(), false)
                .map(FamilyGolden::new)
                .toList();
    }

    /** Writes {@code config.json} and the tensors that transformers saved. */
    public void write(Path folder, Layout layout) {
        write(folder, json.get(layout.field));
    }

    /** As the other, with another config. */
    public void write(Path folder, JsonNode config) {
        List<SafetensorsWriter.Tensor> tensors = new ArrayList<>();
        for (Map.Entry<String, JsonNode> entry : json.get("tensors").properties()) {
            tensors.add(tensor(entry.getKey(), entry.getValue()));
        }
        try {
            Files.writeString(folder.resolve("config.json"), config.toPrettyString());
            SafetensorsWriter.write(folder.resolve("model.safetensors"), Map.of("format", "pt"), tensors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private SafetensorsWriter.Tensor tensor(String name, JsonNode shapeMeanDeviation) {
        List<Long> shape = StreamSupport.stream(shapeMeanDeviation.get(0).spliterator(), false)
                .map(JsonNode::longValue)
                .toList();
        double mean = shapeMeanDeviation.get(1).doubleValue();
        double deviation = shapeMeanDeviation.get(2).doubleValue();
        long seed = json.get("seed").longValue();
        return new SafetensorsWriter.Tensor(name, StoredType.F32, shape, new RandomTensor(seed, name, mean, deviation));
    }

    public String name() {
        return json.get("name").textValue();
    }

    /** Positions that the sequence may have. */
    public int contextLength() {
        return json.get("context").intValue();
    }

    public int[] prompt() {
        return ints(json.get("prompt"));
    }

    /** What greedy decoding appends to the prompt. */
    public int[] ids() {
        return ints(json.get("ids"));
    }

    /** The logits from which {@code ids()[step]} was chosen. */
    public double[] logits(int step) {
        return StreamSupport.stream(json.get("logits").get(step).spliterator(), false)
                .mapToDouble(JsonNode::doubleValue)
                .toArray();
    }

    private static int[] ints(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .mapToInt(JsonNode::intValue)
                .toArray();
    }

    @Override
    public String toString() {
        return json.get("config").get("model_type").textValue() + ", "
                + json.get("name").textValue();
    }
}
