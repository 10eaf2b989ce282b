package io.github.tornadotransformers.models.gguf;

import java.nio.file.Path;
import java.util.List;

/**
 * A tensor of a GGUF file: where it is, not what it holds.
 *
 * @param shape row-major, outermost dimension first: the reverse of what the file has
 * @param offset of its first byte in the file
 */
public record GgufTensor(Path file, String name, GgufTensorType type, List<Long> shape, long offset, long bytes) {
    public GgufTensor {
        shape = List.copyOf(shape);
    }
}
