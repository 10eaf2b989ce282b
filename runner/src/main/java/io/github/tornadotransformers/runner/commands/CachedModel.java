package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.CachedFolder;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.Source;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model that is here, and what it is.
 *
 * @param bytes of its files
 * @param checkpoint empty where it cannot be opened
 * @param problem why it cannot be opened; null where it can
 */
record CachedModel(CachedFolder cached, long bytes, boolean complete, Optional<Checkpoint> checkpoint, String problem) {
    static CachedModel of(CachedFolder cached) {
        Path folder = cached.folder();
        long bytes = bytes(folder);
        List<String> ggufs = ggufs(folder);
        if (!ggufs.isEmpty() && !ModelCache.isComplete(folder)) {
            return new CachedModel(cached, bytes, true, Optional.empty(), "GGUF: " + String.join(", ", ggufs));
        }
        if (!ModelCache.isComplete(folder)) {
            return new CachedModel(cached, bytes, false, Optional.empty(), "not complete");
        }
        try {
            return new CachedModel(cached, bytes, true, Optional.of(Checkpoint.open(folder)), null);
        } catch (CheckpointException e) {
            return new CachedModel(cached, bytes, true, Optional.empty(), e.getMessage());
        }
    }

    /** Models in a file each, which are named with {@code :FILE.gguf}. */
    private static List<String> ggufs(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".gguf"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private static long bytes(Path folder) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            long bytes = 0;
            for (Path file : files) {
                bytes += Files.isRegularFile(file) ? Files.size(file) : 0;
            }
            return bytes;
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    /** Its family and type, or what is wrong with it. */
    String state() {
        return problem == null ? modelType() + ", " + dtype() : problem;
    }

    /** Null where the checkpoint cannot be opened, as is {@link #dtype}. */
    private String modelType() {
        return checkpoint.map(each -> each.config().modelType()).orElse(null);
    }

    private String dtype() {
        return checkpoint.map(each -> EnumConverter.spelled(each.storedDType())).orElse(null);
    }

    ObjectNode toJson() {
        return Json.object()
                .put("name", cached.name())
                .put("path", cached.folder().toString())
                .put("repository", cached.source().map(Source::repository).orElse(null))
                .put("revision", cached.source().map(Source::revision).orElse(null))
                .put("ours", cached.ours())
                .put("bytes", bytes)
                .put("complete", complete)
                .put("model_type", modelType())
                .put("dtype", dtype())
                .put("problem", problem);
    }
}
