package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * Checkpoints of random weights in Hugging Face's layout, for tests, benchmarks and {@code verify}: they need no download,
 * and a speed measured on them is that of trained weights of the same shape.
 *
 * <p>Matrices have mean 0 and deviation {@code 1/sqrt(inputs)}, so that activations and logits stay near 1 at any size; norm
 * weights are near 1, biases near 0, both with deviation 0.1. There are no end tokens.
 */
public final class RandomCheckpoint {
    private static final double VECTOR_DEVIATION = 0.1;

    private RandomCheckpoint() {}

    /**
     * Writes {@code config.json} and {@code model.safetensors}; the folder is made where needed.
     *
     * @param type of all tensors; values are rounded to it
     * @throws IOException if a file cannot be written
     */
    public static void write(Path folder, ModelConfig config, long seed, StoredType type) throws IOException {
        Files.createDirectories(folder);
        CheckpointWriter.writeWeights(folder, config, tensors(config, seed, type));
        CheckpointWriter.writeConfig(folder, config, type, OptionalInt.empty(), List.of());
    }

    /**
     * As {@link #write}, but over several files with an index.
     *
     * @param shards in {@code [1, number of tensors]}
     */
    public static void writeSharded(Path folder, ModelConfig config, long seed, StoredType type, int shards)
            throws IOException {
        Files.createDirectories(folder);
        List<SafetensorsWriter.Tensor> tensors = CheckpointWriter.fullyNamed(config, tensors(config, seed, type));
        ObjectNode index = JsonNodeFactory.instance.objectNode();
        index.putObject("metadata")
                .put(
                        "total_size",
                        tensors.stream()
                                .mapToLong(SafetensorsWriter.Tensor::bytes)
                                .sum());
        ObjectNode weightMap = index.putObject(ShardIndex.WEIGHT_MAP);
        for (int shard = 0; shard < shards; shard++) {
            String name = String.format(Locale.ROOT, "model-%05d-of-%05d.safetensors", shard + 1, shards);
            List<SafetensorsWriter.Tensor> part =
                    tensors.subList(shard * tensors.size() / shards, (shard + 1) * tensors.size() / shards);
            CheckpointWriter.writeShard(folder.resolve(name), part);
            part.forEach(tensor -> weightMap.put(tensor.name(), name));
        }
        CheckpointWriter.writeJson(folder.resolve(ShardIndex.FILE_NAME), index);
        CheckpointWriter.writeConfig(folder, config, type, OptionalInt.empty(), List.of());
    }

    /** The tensors of a random checkpoint, named without the family's prefix. */
    public static List<SafetensorsWriter.Tensor> tensors(ModelConfig config, long seed, StoredType type) {
        List<SafetensorsWriter.Tensor> tensors = new ArrayList<>();
        for (Weight weight : config.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                for (TensorPart part : weight.parts()) {
                    tensors.add(new SafetensorsWriter.Tensor(
                            part.tensorName(layer), type, weight.shapeOf(part), tensor(weight, part, layer, seed)));
                }
            }
        }
        return tensors;
    }

    /** The elements of one tensor of a weight. */
    static RandomTensor tensor(Weight weight, TensorPart part, int layer, long seed) {
        String name = part.tensorName(layer);
        if (weight.kind() == Weight.Kind.MATRIX) {
            return new RandomTensor(seed, name, 0, 1 / Math.sqrt(weight.rows()));
        }
        if (weight.rows() > 1) {
            return new RandomTensor(seed, name, 0, 1 / Math.sqrt(weight.columns()));
        }
        double mean = name.endsWith(".bias") ? 0 : 1 - part.offset();
        return new RandomTensor(seed, name, mean, VECTOR_DEVIATION);
    }
}
