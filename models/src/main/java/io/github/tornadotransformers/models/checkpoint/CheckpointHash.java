package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.Sha256;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/**
 * SHA-256 of what a model computes with: its config as the program has it, and every tensor's name, type, shape and bytes. It does
 * not depend on how tensors are spread over files, nor on what else lies in the folder.
 */
final class CheckpointHash {
    /** Bytes that are read at a time. */
    private static final int PIECE = 1 << 20;

    private CheckpointHash() {}

    /** @param tensors of the model, in any order */
    static String of(Checkpoint checkpoint, List<StoredTensor> tensors) {
        MessageDigest digest = Sha256.digest();
        ObjectNode config = JsonNodeFactory.instance.objectNode();
        ModelFamilies.describe(checkpoint.config(), config);
        digest.update(
                (ModelFamilies.of(checkpoint.config()).modelType() + config + '\n').getBytes(StandardCharsets.UTF_8));
        tensors.stream()
                .sorted(Comparator.comparing(StoredTensor::name))
                .parallel()
                .map(CheckpointHash::line)
                .toList()
                .forEach(line -> digest.update(line.getBytes(StandardCharsets.UTF_8)));
        return HexFormat.of().formatHex(digest.digest());
    }

    private static String line(StoredTensor tensor) {
        MessageDigest digest = Sha256.digest();
        try (Arena arena = Arena.ofConfined();
                TensorReader reader = new TensorReader(tensor)) {
            MemorySegment piece = arena.allocate(PIECE);
            for (long from = 0; from < tensor.bytes(); from += PIECE) {
                MemorySegment read = piece.asSlice(0, Math.min(PIECE, tensor.bytes() - from));
                reader.read(from, read);
                digest.update(read.asByteBuffer());
            }
        }
        return tensor.name()
                + ' '
                + tensor.dtype()
                + ' '
                + tensor.shape()
                + ' '
                + HexFormat.of().formatHex(digest.digest())
                + '\n';
    }
}
