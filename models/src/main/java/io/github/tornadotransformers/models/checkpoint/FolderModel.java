package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Quoted;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A folder in Hugging Face's layout. Where {@code model.safetensors.index.json} and {@code model.safetensors} are both there, the
 * index wins.
 *
 * @param path the folder
 * @param generation what {@code generation_config.json} has, where there is one
 */
record FolderModel(Path path, ConfigReader config, Optional<ConfigReader> generation) implements StoredModel {
    private static final String GENERATION_CONFIG = "generation_config.json";

    static FolderModel open(Path folder) {
        requireFolder(folder);
        Path file = folder.resolve(Checkpoint.CONFIG);
        if (!CheckpointFiles.isThere(file)) {
            throw new CheckpointException(Quoted.path(folder) + " has no " + Checkpoint.CONFIG
                    + ", expected a checkpoint in Hugging Face's layout");
        }
        ConfigReader config = new ConfigReader(file, CheckpointFiles.readJson(file));
        return new FolderModel(folder, config, generationConfig(folder));
    }

    private static void requireFolder(Path folder) {
        if (Files.notExists(folder)) {
            throw new CheckpointException(Quoted.path(folder) + " does not exist, expected a folder with a checkpoint");
        }
        if (!Files.isDirectory(folder)) {
            throw new CheckpointException(Quoted.path(folder) + " is a file, expected the folder of a checkpoint (with "
                    + Checkpoint.CONFIG + "), or a GGUF file");
        }
    }

    private static Optional<ConfigReader> generationConfig(Path folder) {
        Path file = folder.resolve(GENERATION_CONFIG);
        if (!CheckpointFiles.isThere(file)) {
            return Optional.empty();
        }
        ObjectNode json = CheckpointFiles.readJson(file);
        return Optional.of(new ConfigReader(file, json));
    }

    @Override
    public String description() {
        return Checkpoint.CONFIG;
    }

    /** {@code generation_config.json}'s if it has the field, else {@code config.json}'s; may be empty. */
    @Override
    public List<Integer> endTokens() {
        return saying(Checkpoint.END_TOKENS).tokenIds(Checkpoint.END_TOKENS);
    }

    @Override
    public OptionalInt bosToken() {
        return saying(Checkpoint.BOS_TOKEN).tokenId(Checkpoint.BOS_TOKEN);
    }

    /** The generation config where it has the field, be it null; the model's otherwise. */
    private ConfigReader saying(String field) {
        return generation.filter(reader -> reader.mentions(field)).orElse(config);
    }

    @Override
    public TensorIndex tensors(ModelFamily<?> family, ModelConfig ofModel) {
        return TensorIndex.of(family, weights());
    }

    private List<SafetensorsFile> weights() {
        Path index = path.resolve(ShardIndex.FILE_NAME);
        if (CheckpointFiles.isThere(index)) {
            return ShardIndex.read(index).openShards();
        }
        Path single = path.resolve(Checkpoint.SINGLE_FILE);
        if (!CheckpointFiles.isThere(single)) {
            throw new CheckpointException(Quoted.path(path) + " has neither " + Checkpoint.SINGLE_FILE + " nor "
                    + ShardIndex.FILE_NAME + "; of other formats only GGUF is read, from a file that is named itself");
        }
        return List.of(SafetensorsFile.open(single));
    }
}
