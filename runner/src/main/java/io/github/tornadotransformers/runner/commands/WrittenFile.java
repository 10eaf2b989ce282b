package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Failure;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file that a command writes in the end. */
final class WrittenFile {
    private WrittenFile() {}

    /**
     * Checked before anything is computed that would be lost.
     *
     * @param option that names the file
     * @param path null where none is named
     * @throws Failure if it is a folder, or its folder is not there
     */
    static void require(String option, Path path) {
        if (path != null
                && (Files.isDirectory(path)
                        || !Files.isDirectory(path.toAbsolutePath().getParent()))) {
            throw Failure.of(option + " is " + path + ", expected a file in a folder that is there");
        }
    }
}
