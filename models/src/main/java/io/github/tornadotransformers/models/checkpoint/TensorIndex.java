package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** The tensors of all of a checkpoint's files by the names of Hugging Face's, without the family's prefix. */
final class TensorIndex {
    private final ModelFamily<?> family;
    private final Map<String, StoredTensor> tensors;
    private final UnaryOperator<String> spelling;

    /** @param spelling the name as this checkpoint would spell it */
    TensorIndex(ModelFamily<?> family, Map<String, StoredTensor> tensors, UnaryOperator<String> spelling) {
        this.family = family;
        this.tensors = tensors;
        this.spelling = spelling;
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
        return new TensorIndex(family, tensors, prefixed ? family::fullName : UnaryOperator.identity());
    }

    /**
     * As this, but where the program's head is its embedding and the files have it under the head's name alone, that is the
     * embedding: of tensors that share memory, safetensors' {@code save_model} keeps one name.
     */
    TensorIndex withTiedHead(Program program) {
        Optional<String> embedding = embeddingName(program);
        boolean tied = partNames(program).noneMatch(ModelFamily.HEAD::equals);
        if (!tied
                || embedding.isEmpty()
                || tensors.containsKey(embedding.get())
                || !tensors.containsKey(ModelFamily.HEAD)) {
            return this;
        }
        Map<String, StoredTensor> renamed = new LinkedHashMap<>(tensors);
        renamed.put(embedding.get(), renamed.remove(ModelFamily.HEAD));
        return new TensorIndex(family, renamed, spelling);
    }

    private static Optional<String> embeddingName(Program program) {
        return program.ops().stream()
                .filter(Op.TokenEmbedding.class::isInstance)
                .map(op -> ((Op.TokenEmbedding) op).table().parts().getFirst().tensorName())
                .findFirst();
    }

    private static Stream<String> partNames(Program program) {
        return program.weights().stream()
                .flatMap(weight -> weight.parts().stream())
                .map(TensorPart::tensorName);
    }

    /**
     * What stands before the names of all tensors where something wraps the model, with its dot: {@code _orig_mod.} of
     * torch.compile, {@code module.} of DataParallel, {@code base_model.model.} of PEFT.
     *
     * @param missing the name, without prefix, of a tensor that was not found
     */
    Optional<String> wrapper(String missing) {
        String ending = "." + missing;
        return tensors.values().stream()
                .map(StoredTensor::name)
                .filter(name -> name.endsWith(ending))
                .map(name -> name.substring(0, name.length() - missing.length()))
                .map(prefix -> prefix.endsWith(family.tensorPrefix())
                        ? prefix.substring(
                                0, prefix.length() - family.tensorPrefix().length())
                        : prefix)
                .filter(prefix -> !prefix.isEmpty())
                .findFirst();
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
        return spelling.apply(name);
    }
}
