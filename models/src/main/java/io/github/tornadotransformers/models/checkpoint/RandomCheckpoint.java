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
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

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
        List<SafetensorsWriter.Tensor> tensors = tensors(config, seed, type);
        List<List<SafetensorsWriter.Tensor>> parts = IntStream.range(0, shards)
                .mapToObj(shard ->
                        tensors.subList(shard * tensors.size() / shards, (shard + 1) * tensors.size() / shards))
                .toList();
        writeParts(folder, config, type, parts);
    }

    /**
     * As {@link #write}, over as many files as it takes, with an index where that is more than one. No more than a few
     * megabytes of it are in memory.
     *
     * @param mostBytes of the tensors in a file, unless one alone has more
     * @param written is told of bytes as they are made, by several threads
     */
    public static void writeInFiles(
            Path folder, ModelConfig config, long seed, StoredType type, long mostBytes, LongConsumer written)
            throws IOException {
        List<List<SafetensorsWriter.Tensor>> parts = new ArrayList<>();
        long room = 0;
        for (SafetensorsWriter.Tensor tensor : tensors(config, seed, type)) {
            if (tensor.bytes() > room) {
                parts.add(new ArrayList<>());
                room = mostBytes;
            }
            room -= tensor.bytes();
            parts.getLast().add(watched(tensor, written));
        }
        writeParts(folder, config, type, parts);
    }

    private static SafetensorsWriter.Tensor watched(SafetensorsWriter.Tensor tensor, LongConsumer written) {
        FloatSource data = tensor.data();
        return new SafetensorsWriter.Tensor(tensor.name(), tensor.type(), tensor.shape(), (first, values, count) -> {
            data.read(first, values, count);
            written.accept((long) count * tensor.type().bytes());
        });
    }

    private static void writeParts(
            Path folder, ModelConfig config, StoredType type, List<List<SafetensorsWriter.Tensor>> parts)
            throws IOException {
        Files.createDirectories(folder);
        if (parts.size() == 1) {
            CheckpointWriter.writeWeights(folder, config, parts.getFirst());
        } else {
            writeShards(folder, config, parts);
        }
        CheckpointWriter.writeConfig(folder, config, type, OptionalInt.empty(), List.of());
    }

    private static void writeShards(Path folder, ModelConfig config, List<List<SafetensorsWriter.Tensor>> parts)
            throws IOException {
        ObjectNode index = JsonNodeFactory.instance.objectNode();
        long bytes = parts.stream()
                .flatMap(List::stream)
                .mapToLong(SafetensorsWriter.Tensor::bytes)
                .sum();
        index.putObject("metadata").put("total_size", bytes);
        ObjectNode weightMap = index.putObject(ShardIndex.WEIGHT_MAP);
        for (int shard = 0; shard < parts.size(); shard++) {
            String name = String.format(Locale.ROOT, "model-%05d-of-%05d.safetensors", shard + 1, parts.size());
            List<SafetensorsWriter.Tensor> named = CheckpointWriter.fullyNamed(config, parts.get(shard));
            CheckpointWriter.writeShard(folder.resolve(name), named);
            named.forEach(tensor -> weightMap.put(tensor.name(), name));
        }
        CheckpointWriter.writeJson(folder.resolve(ShardIndex.FILE_NAME), index);
    }

    /** Bytes of all tensors of a checkpoint of this type. */
    public static long bytes(ModelConfig config, StoredType type) {
        return tensors(config, 0, type).stream()
                .mapToLong(SafetensorsWriter.Tensor::bytes)
                .reduce(0, Math::addExact);
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
