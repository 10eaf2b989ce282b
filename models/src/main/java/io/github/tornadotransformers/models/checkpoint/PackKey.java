package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.Set;
import java.util.TreeSet;

/**
 * SHA-256 of all that the contents of a {@link WeightPack} depend on: how weights lie in memory, the weights of the program, where
 * its tensors are, and of the files that hold them size, time of change, and, where the system has it, the time at which anything
 * about them was last changed, which nobody can set back. The tensors' bytes themselves are not read: that would cost as much as
 * loading.
 */
final class PackKey {
    /** Another number for every change of what a loaded weight's bytes are: packs that are there are then made again. */
    private static final int LOADED_FORM = 1;

    private PackKey() {}

    /** @throws CheckpointException if a file cannot be read */
    static byte[] of(Checkpoint checkpoint, Program program, DType dtype, WeightLayout layout) {
        StringBuilder text = new StringBuilder("form " + LOADED_FORM + " " + dtype + " " + layout + "\n");
        ObjectNode config = JsonNodeFactory.instance.objectNode();
        ModelFamilies.describe(checkpoint.config(), config);
        text.append(checkpoint.config().modelType()).append(config).append('\n');
        Set<Path> files = new TreeSet<>();
        for (Weight weight : program.weights()) {
            text.append(weight).append('\n');
            for (int layer = 0; layer < weight.layers(); layer++) {
                for (TensorPart part : weight.parts()) {
                    StoredTensor tensor = checkpoint.tensor(part.tensorName(layer));
                    files.add(tensor.file());
                    text.append(tensor.file().getFileName())
                            .append(" " + tensor.name() + " " + tensor.dtype() + " " + tensor.shape() + " "
                                    + tensor.offset() + " " + tensor.bytes() + "\n");
                }
            }
        }
        files.forEach(file -> text.append(state(file)));
        MessageDigest digest = Sha256.digest();
        return digest.digest(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static String state(Path file) {
        try {
            String state =
                    Files.size(file) + " " + Files.getLastModifiedTime(file).toInstant();
            boolean unix = file.getFileSystem().supportedFileAttributeViews().contains("unix");
            return unix
                    ? state + " " + ((FileTime) Files.getAttribute(file, "unix:ctime")).toInstant() + "\n"
                    : state + "\n";
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }
}
