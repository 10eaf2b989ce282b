package io.github.tornadotransformers.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.sdk.TornadoSdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The benchmarks on the device that an installed TornadoVM finds first, each for a moment. */
class OnDeviceTest {
    @Test
    void everyOpAndModelRuns() throws IOException, InterruptedException {
        Selection cases = new Selection(Map.of(
                "model",
                List.of("tiny-llama"),
                "engine",
                List.of("tornado"),
                "dtype",
                List.of("f32"),
                "pass",
                List.of("decode")));
        String arguments = "OpBenchmark ModelBenchmark -f 0 -wi 0 -i 1 -r 1ms -v SILENT -p engine=tornado"
                + " -p dtype=f32 -p pass=decode -p model=tiny-llama";
        String output = TornadoSdk.output(TornadoSdk.assumedWithDevice()
                .launch(
                        List.of("--add-modules=jdk.incubator.vector"),
                        classPath(),
                        JmhProgram.class.getName(),
                        List.of("--params=" + arguments)));

        assertThat(output.lines().filter(line -> line.startsWith("| tiny")))
                .as(output)
                .hasSize(cases.all().size());
    }

    private static List<Path> classPath() {
        return Stream.of(System.getProperty("java.class.path").split(System.getProperty("path.separator")))
                .map(Path::of)
                .toList();
    }
}
