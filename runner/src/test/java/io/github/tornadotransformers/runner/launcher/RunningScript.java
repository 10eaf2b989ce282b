package io.github.tornadotransformers.runner.launcher;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process that writes into files, so that it never waits for a reader. */
record RunningScript(Process process, Path out, Path err) {
    private static final int PATIENCE_SECONDS = 120;

    static RunningScript start(Path folder, Map<String, String> environment, List<String> command) throws IOException {
        Path out = Files.createTempFile(folder, "stdout-", "");
        Path err = Files.createTempFile(folder, "stderr-", "");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        return new RunningScript(builder.start(), out, err);
    }

    /** @throws AssertionError if it does not end */
    ScriptRun finish() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("the process does not end; stderr: " + Files.readString(err));
        }
        return new ScriptRun(process.exitValue(), Files.readString(out), Files.readString(err));
    }
}
