package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Keeps a folder to one run at a time: of two, the state of one would be lost. The system lets go when the process ends. */
public final class TrainingLock implements AutoCloseable {
    static final String FILE = "training.lock";

    private final FileChannel channel;

    private TrainingLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * @param folder made where needed
     * @throws TrainingException if another run holds it, or it cannot be written
     */
    public static TrainingLock hold(Path folder) {
        try {
            Files.createDirectories(folder);
            FileChannel channel =
                    FileChannel.open(folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (isLocked(channel)) {
                return new TrainingLock(channel);
            }
            channel.close();
        } catch (IOException e) {
            throw new TrainingException(Quoted.path(folder) + " cannot be locked for this run: " + e.getMessage(), e);
        }
        throw new TrainingException(
                "another training writes to " + Quoted.path(folder) + ": wait for its end, or choose another folder");
    }

    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false; // held by this process
        }
    }

    /** The file stays: another run may be about to lock it. */
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new TrainingException("the run's lock cannot be given back: " + e.getMessage(), e);
        }
    }
}
