package io.github.tornadotransformers.server;

import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.ModelFolder;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * A model that can be asked for.
 *
 * @param name by which it is asked for
 * @param path finds its folder or file, which may take a while
 * @param settings of the engine that it runs on
 */
public record ServedModel(String name, Supplier<Path> path, EngineSettings settings) {
    ModelFolder open() {
        return ModelFolder.open(path.get());
    }
}
