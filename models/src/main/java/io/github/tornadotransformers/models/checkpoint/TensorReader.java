package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;

/**
 * Reads a tensor's bytes from its file, its rows in Hugging Face's order. It is not mapped: where a mapped file is cut short, the process gets a signal and not an
 * error.
 */
final class TensorReader implements TensorBytes, AutoCloseable {
    private final StoredTensor tensor;
    private final FileChannel channel;

    /** @throws CheckpointException if the file cannot be opened */
    TensorReader(StoredTensor tensor) {
        this.tensor = tensor;
        try {
            channel = FileChannel.open(tensor.file());
        } catch (IOException e) {
            throw CheckpointException.unreadable(tensor.file(), e);
        }
    }

    /** @throws CheckpointException if the file has become shorter since its header was read, or cannot be read */
    @Override
    public void read(long offset, MemorySegment to) {
        if (tensor.form().interleavedRows() == 0) {
            readStored(offset, to);
            return;
        }
        long rowBytes = tensor.bytes() / tensor.shape().getFirst();
        long count;
        for (long at = 0; at < to.byteSize(); at += count) {
            long row = (offset + at) / rowBytes;
            long inRow = (offset + at) % rowBytes;
            count = Math.min(rowBytes - inRow, to.byteSize() - at);
            readStored(tensor.form().storedRow(row) * rowBytes + inRow, to.asSlice(at, count));
        }
    }

    private void readStored(long offset, MemorySegment to) {
        try {
            CheckpointFiles.readFully(tensor.file(), channel, to.asByteBuffer(), tensor.offset() + offset);
        } catch (IOException e) {
            throw CheckpointException.unreadable(tensor.file(), e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw CheckpointException.unreadable(tensor.file(), e);
        }
    }
}
