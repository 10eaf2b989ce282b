package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Quoted;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The tensors of all of a checkpoint's files by their names without the family's prefix. */
final class TensorIndex {
    private final ModelFamily<?> family;
    private final Map<String, StoredTensor> tensors;
    private final boolean prefixed;

    private TensorIndex(ModelFamily<?> family, Map<String, StoredTensor> tensors, boolean prefixed) {
        this.family = family;
        this.tensors = tensors;
        this.prefixed = prefixed;
    }

    /** @throws CheckpointException if a tensor is there twice */
    static TensorIndex of(ModelFamily<?> family, List<SafetensorsFile> files) {
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        boolean prefixed = false;
        for (SafetensorsFile file : files) {
            for (StoredTensor tensor : file.tensors().values()) {
                boolean hasPrefix = tensor.name().startsWith(family.tensorPrefix());
                prefixed |= hasPrefix;
                String name = hasPrefix
                        ? tensor.name().substring(family.tensorPrefix().length())
                        : tensor.name();
                StoredTensor other = tensors.putIfAbsent(name, tensor);
                if (other != null) {
                    throw new CheckpointException("tensor " + Quoted.text(tensor.name()) + " is there twice: in "
                            + Quoted.path(tensor.file()) + " and, as " + Quoted.text(other.name()) + ", in "
                            + Quoted.path(other.file()));
                }
            }
        }
        return new TensorIndex(family, tensors, prefixed);
    }

    Optional<StoredTensor> find(String name) {
        return Optional.ofNullable(tensors.get(name));
    }

    Collection<Map.Entry<String, StoredTensor>> entries() {
        return tensors.entrySet();
    }

    boolean ignores(String name) {
        return family.ignores(name);
    }

    /** The name as this checkpoint would spell it. */
    String spelled(String name) {
        return prefixed ? family.fullName(name) : name;
    }
}
