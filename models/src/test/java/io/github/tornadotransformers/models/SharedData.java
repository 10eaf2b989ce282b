package io.github.tornadotransformers.models;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** The data that lies beside the project, at {@code ../shared} or where {@code -Dshared.dir=…} says. */
public final class SharedData {
    private SharedData() {}

    /** The path of a file or folder within it; where it is absent the test that asks is skipped, with the reason. */
    public static Path require(String relative) {
        Path path = Path.of(System.getProperty("shared.dir", "../shared")).resolve(relative);
        assumeTrue(Files.exists(path), () -> "no test data at " + path.toAbsolutePath() + " (-Dshared.dir=…)");
        return path;
    }
}
