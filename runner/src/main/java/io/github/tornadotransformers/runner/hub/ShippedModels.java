package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.runner.console.Console;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The small models that come with the project, so that a first command needs no download. */
public final class ShippedModels {
    /** What {@code gpt2} and {@code llama} run when no model is named. */
    public static final String GPT2 = "shakespeare-gpt2";

    public static final String LLAMA = "shakespeare-llama";

    /** The project's folder, which the launcher knows. */
    private static final String HOME = "TRANSFORMERS_HOME";

    private static final String FOLDER = "pretrained";

    private ShippedModels() {}

    public static List<String> names() {
        return List.of(GPT2, LLAMA);
    }

    /** The folder of a shipped model; empty for another name, or where the program was not started by the launcher. */
    static Optional<Path> find(Console console, String name) {
        return console.variable(HOME)
                .filter(_ -> names().contains(name))
                .map(home -> Path.of(home, FOLDER, name))
                .filter(Files::isDirectory);
    }
}
