package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The header of a safetensors file, checked by the reference reader's rules: eight bytes of header length, a JSON object of
 * at most 100 MB, and tensors that cover the rest of the file without a hole or an overlap. Tensor data is not read.
 *
 * <p>Source: the format's description and reference reader, github.com/huggingface/safetensors.
 */
public final class SafetensorsFile {
    static final int LENGTH_BYTES = Long.BYTES;
    static final long MAX_HEADER_BYTES = 100_000_000;

    private final Path file;
    private final Map<String, String> metadata;
    private final SequencedMap<String, StoredTensor> tensors;

    private SafetensorsFile(Path file, SafetensorsHeader header) {
        this.file = file;
        this.metadata = Map.copyOf(header.metadata());
        this.tensors = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(header.tensors()));
    }

    /** @throws CheckpointException if the file cannot be read or breaks a rule of the format */
    public static SafetensorsFile open(Path file) {
        CheckpointFiles.requireContents(file);
        try (FileChannel channel = FileChannel.open(file)) {
            long fileBytes = channel.size();
            long headerBytes = headerBytes(file, channel, fileBytes);
            ByteBuffer header = ByteBuffer.allocate((int) headerBytes);
            CheckpointFiles.readFully(file, channel, header, LENGTH_BYTES);
            long dataOffset = LENGTH_BYTES + headerBytes;
            return new SafetensorsFile(
                    file, SafetensorsHeader.parse(file, header.array(), dataOffset, fileBytes - dataOffset));
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }

    private static long headerBytes(Path file, FileChannel channel, long fileBytes) throws IOException {
        if (fileBytes < LENGTH_BYTES) {
            throw new CheckpointException(Quoted.path(file) + " has " + fileBytes
                    + " bytes, too short for a safetensors file: expected at least " + LENGTH_BYTES);
        }
        ByteBuffer length = ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        CheckpointFiles.readFully(file, channel, length, 0);
        long headerBytes = length.getLong(0);
        if (Long.compareUnsigned(headerBytes, fileBytes - LENGTH_BYTES) > 0) {
            throw new CheckpointException(Quoted.path(file) + " says its header has "
                    + Long.toUnsignedString(headerBytes) + " bytes, but only " + (fileBytes - LENGTH_BYTES)
                    + " follow: not a safetensors file, or an incomplete download");
        }
        if (headerBytes > MAX_HEADER_BYTES) {
            throw new CheckpointException(Quoted.path(file) + " says its header has " + headerBytes
                    + " bytes, expected at most " + MAX_HEADER_BYTES);
        }
        return headerBytes;
    }

    public Path file() {
        return file;
    }

    /** What {@code __metadata__} says. */
    public Map<String, String> metadata() {
        return metadata;
    }

    /** The tensors by name, in the header's order. */
    public SequencedMap<String, StoredTensor> tensors() {
        return tensors;
    }
}
