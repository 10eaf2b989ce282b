package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.ArithmeticContract;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** Keys and values that stay from one run of a command to the next. */
final class CacheFile {
    static final String OPTION = "--cache-file";

    @Option(
            names = OPTION,
            paramLabel = "FILE",
            description =
                    "keep keys and values there from run to run: a prompt that begins like an earlier one is read sooner")
    Path path;

    boolean isGiven() {
        return path != null;
    }

    /** Before a model is loaded for it. */
    void requireWritable() {
        WrittenFile.require(OPTION, path);
    }

    /**
     * Has the engine keep what the file has.
     *
     * @param notices get a line where it is not of use
     * @return what {@link Saving#save} writes in the end
     */
    Saving load(Checkpoint checkpoint, EngineSession session, Engine engine, Consumer<String> notices) {
        if (!isGiven()) {
            return () -> {};
        }
        String key = Json.object()
                .put("contract", ArithmeticContract.VERSION)
                .put("model_sha256", checkpoint.hash())
                .put("dtype", EnumConverter.spelled(session.dtype()))
                .put("kv_dtype", EnumConverter.spelled(session.kvType()))
                .toString();
        engine.loadKept(path, key).ifPresent(notices);
        return () -> {
            try {
                engine.saveKept(path, key);
            } catch (IOException e) {
                throw Failure.of(path + " cannot be written: " + IoReason.of(e), e);
            }
        };
    }

    /** Writes the file. */
    @FunctionalInterface
    interface Saving {
        void save();
    }
}
