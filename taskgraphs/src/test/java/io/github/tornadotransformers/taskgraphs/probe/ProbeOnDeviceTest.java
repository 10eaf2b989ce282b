package io.github.tornadotransformers.taskgraphs.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.sdk.TornadoSdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A real compiler that is made to compute wrongly is found out: TornadoVM, told to leave products to the driver. */
class ProbeOnDeviceTest {
    @Test
    void productsThatAreLeftToTheDriverAreSeen() throws IOException, InterruptedException {
        List<String> flags = List.of(
                "-Dtornado.enable.fma=False",
                "-Dtornado.recover.bailout=False",
                "-Dtornado.opencl.compiler.flags=-w",
                "-Dtornado.enable.fastMathOptimizations=False");
        List<Path> classPath = Stream.of(
                        System.getProperty("java.class.path").split(System.getProperty("path.separator")))
                .map(Path::of)
                .toList();
        String output = TornadoSdk.output(
                TornadoSdk.assumedWithDevice().launch(flags, classPath, UnfusedProbe.class.getName(), List.of()));
        // The driver rounds them, or, where it contracts by itself, fuses those that stand by themselves.
        assertThat(output).containsAnyOf(Fault.NOT_FUSED.toString(), Fault.CONTRACTED.toString());
    }
}
