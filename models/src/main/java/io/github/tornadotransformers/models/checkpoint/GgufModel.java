package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.gguf.GgufArchitecture;
import io.github.tornadotransformers.models.gguf.GgufFile;
import io.github.tornadotransformers.models.gguf.GgufTensor;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** A GGUF file, or several that belong together. */
record GgufModel(GgufFile file, ConfigReader config) implements StoredModel {
    static GgufModel open(Path path) {
        CheckpointFiles.requireContents(path);
        GgufFile file = GgufFile.open(path);
        return new GgufModel(file, file.config());
    }

    @Override
    public Path path() {
        return file.file();
    }

    @Override
    public String description() {
        return "its keys";
    }

    @Override
    public List<Integer> endTokens() {
        return GgufTokens.endTokens(file.metadata());
    }

    @Override
    public OptionalInt bosToken() {
        return file.metadata().tokenId(GgufTokens.BOS);
    }

    @Override
    public TensorIndex tensors(ModelFamily<?> family, ModelConfig ofModel) {
        GgufArchitecture architecture = file.architecture();
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        file.weights().forEach((name, tensor) -> tensors.put(name, stored(tensor, form(architecture, name, ofModel))));
        return new TensorIndex(family, tensors, architecture::tensorName);
    }

    private static TensorForm form(GgufArchitecture architecture, String name, ModelConfig config) {
        return new TensorForm(
                architecture.isTurned(name),
                architecture.isShifted(name),
                architecture.interleaves(name) ? config.heads().headDim() : 0);
    }

    private static StoredTensor stored(GgufTensor tensor, TensorForm form) {
        return new StoredTensor(
                tensor.file(),
                tensor.name(),
                tensor.type().name(),
                tensor.shape(),
                tensor.offset(),
                tensor.bytes(),
                form);
    }
}
