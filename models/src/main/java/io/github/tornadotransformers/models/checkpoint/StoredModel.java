package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.gguf.GgufFile;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/** A model as it is stored, in one of the layouts that are read: what {@link Checkpoint} needs of it. */
sealed interface StoredModel permits FolderModel, GgufModel {
    /** @throws io.github.tornadotransformers.models.CheckpointException if there is none, or one that cannot be read */
    static StoredModel open(Path path) {
        CheckpointFiles.requireTarget(path);
        return GgufFile.isGguf(path) ? GgufModel.open(path) : FolderModel.open(path);
    }

    /** The folder or the file. */
    Path path();

    /** What messages call that which describes the model. */
    String description();

    /** The fields of a {@code config.json}. */
    ConfigReader config();

    /** Ids that end a text. */
    List<Integer> endTokens();

    /** The id that begins a text. */
    OptionalInt bosToken();

    /** Where the tensors are. */
    TensorIndex tensors(ModelFamily<?> family, ModelConfig config);
}
