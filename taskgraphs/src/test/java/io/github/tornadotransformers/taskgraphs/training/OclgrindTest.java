package io.github.tornadotransformers.taskgraphs.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.sdk.TornadoSdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernels for groups in an interpreter that looks for races. */
class OclgrindTest {
    @TempDir
    private Path folder;

    @Test
    void kernelsForGroupsHaveTheHostsBitsAndNoRace() throws IOException, InterruptedException {
        Oclgrind oclgrind = Oclgrind.assumed(folder);

        run(oclgrind, OclgrindChecks.TOKENS);

        assertThat(oclgrind.report()).isEmpty();
    }

    /** Else the test above would prove nothing. */
    @Test
    void aRaceIsReported() throws IOException, InterruptedException {
        Oclgrind oclgrind = Oclgrind.assumed(folder);

        run(oclgrind, OclgrindChecks.RACE);

        assertThat(oclgrind.report()).anyMatch(line -> line.contains("data race"));
    }

    private void run(Oclgrind oclgrind, String what) throws IOException, InterruptedException {
        TornadoSdk sdk = TornadoSdk.assumed();
        Assumptions.assumeTrue(
                sdk.backends().contains("opencl-backend"),
                () -> "the TornadoVM SDK in %s was built without OpenCL".formatted(sdk.home()));
        Path done = folder.resolve("done");
        String output = TornadoSdk.output(oclgrind.showTo(
                sdk.launch(List.of(), classPath(), OclgrindChecks.class.getName(), List.of(done.toString(), what))));
        assertThat(done).as(output).exists();
        assertThat(Files.readString(done)).contains("GPU");
    }

    private static List<Path> classPath() {
        return Stream.of(System.getProperty("java.class.path").split(System.getProperty("path.separator")))
                .map(Path::of)
                .toList();
    }
}
