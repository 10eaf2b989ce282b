package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Writes a checkpoint's files in Hugging Face's layout, each whole or not at all. */
public final class CheckpointWriter {
    /** Without it Hugging Face's own loader refuses the file. */
    private static final Map<String, String> METADATA = Map.of("format", "pt");

    private CheckpointWriter() {}

    /**
     * Writes {@code model.safetensors}.
     *
     * @param tensors named as a program names them, without the family's prefix
     * @throws IOException if it cannot be written; an older file is then as it was
     */
    public static void writeWeights(Path folder, ModelConfig config, List<SafetensorsWriter.Tensor> tensors)
            throws IOException {
        SafetensorsWriter.write(folder.resolve(Checkpoint.SINGLE_FILE), METADATA, fullyNamed(config, tensors));
    }

    static void writeShard(Path file, List<SafetensorsWriter.Tensor> tensors) throws IOException {
        SafetensorsWriter.write(file, METADATA, tensors);
    }

    static List<SafetensorsWriter.Tensor> fullyNamed(ModelConfig config, List<SafetensorsWriter.Tensor> tensors) {
        ModelFamily<?> family = ModelFamilies.of(config);
        return tensors.stream()
                .map(tensor -> new SafetensorsWriter.Tensor(
                        family.fullName(tensor.name()), tensor.type(), tensor.shape(), tensor.data()))
                .toList();
    }

    /**
     * Writes {@code config.json}.
     *
     * @param type of the tensors, for readers that ask
     * @param bosToken the id that begins a text, if there is one
     * @param endTokens the ids that end a text
     * @throws IOException if it cannot be written; an older file is then as it was
     */
    public static void writeConfig(
            Path folder, ModelConfig config, StoredType type, OptionalInt bosToken, List<Integer> endTokens)
            throws IOException {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put(ModelFamilies.MODEL_TYPE, config.modelType());
        ModelFamilies.describe(config, json);
        json.put("torch_dtype", torchName(type));
        bosToken.ifPresent(id -> json.put(Checkpoint.BOS_TOKEN, id));
        if (endTokens.size() == 1) {
            json.put(Checkpoint.END_TOKENS, endTokens.getFirst());
        } else if (!endTokens.isEmpty()) {
            ArrayNode ids = json.putArray(Checkpoint.END_TOKENS);
            endTokens.forEach(ids::add);
        }
        writeJson(folder.resolve(Checkpoint.CONFIG), json);
    }

    private static String torchName(StoredType type) {
        return switch (type) {
            case F64 -> "float64";
            case F32 -> "float32";
            case F16 -> "float16";
            case BF16 -> "bfloat16";
        };
    }

    /** @throws IOException if it cannot be written; an older file is then as it was */
    public static void writeJson(Path file, ObjectNode json) throws IOException {
        WholeFile.write(file, (json.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
