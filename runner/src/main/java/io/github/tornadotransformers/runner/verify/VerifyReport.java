package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes a {@link VerifyResult} to a folder: a page to read and the data behind it. */
public final class VerifyReport {
    private static final String PAGE = "report.html";
    private static final String DATA = "report.json";
    private static final String KERNELS = "kernels.txt";

    private VerifyReport() {}

    /**
     * @param folder made where needed
     * @return the page
     * @throws Failure if a file cannot be written; no part of one is left
     */
    public static Path write(Path folder, VerifyResult result) {
        try {
            Files.createDirectories(folder);
            replace(folder.resolve(DATA), JsonResult.of(result).toPrettyString() + "\n");
            return replace(folder.resolve(PAGE), HtmlReport.of(result));
        } catch (IOException e) {
            throw Failure.of("the report cannot be written to " + folder + ": " + IoReason.of(e), e);
        }
    }

    /**
     * The file in a report's folder that generated kernels go to; one of an earlier run is removed.
     *
     * @throws Failure if the folder cannot be made or written
     */
    public static Path kernelSources(Path folder) {
        try {
            Files.createDirectories(folder);
            Files.deleteIfExists(folder.resolve(KERNELS));
            return folder.resolve(KERNELS);
        } catch (IOException e) {
            throw Failure.of("the report cannot be written to " + folder + ": " + IoReason.of(e), e);
        }
    }

    private static Path replace(Path file, String text) throws IOException {
        WholeFile.write(file.toAbsolutePath(), text.getBytes(StandardCharsets.UTF_8));
        return file;
    }
}
