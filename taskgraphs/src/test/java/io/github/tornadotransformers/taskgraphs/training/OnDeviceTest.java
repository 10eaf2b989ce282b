package io.github.tornadotransformers.taskgraphs.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.sdk.TornadoSdk;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@link DeviceChecks} on the device that an installed TornadoVM finds first: a test for each Op and type, and for each text. The
 * kernels run in a JVM of its own, as a kernel that writes out of bounds ends its process.
 */
class OnDeviceTest {
    @TempDir
    private Path folder;

    /** A line of the results: {@code +}, {@code -} or, where the process ended in it, {@code ?}. */
    private record Result(char sign, String name, String reason) {
        static Result of(String line) {
            String[] parts = line.substring(2).split("\t", 2);
            return new Result(line.charAt(0), parts[0], parts.length == 1 ? "" : parts[1]);
        }

        DynamicTest test(String output) {
            return DynamicTest.dynamicTest(name, () -> {
                if (sign != '+') {
                    throw new AssertionError(sign == '-' ? reason : "the process ended here: " + output);
                }
            });
        }
    }

    @TestFactory
    Stream<DynamicTest> theHostsBits() throws IOException, InterruptedException {
        return run(MathMode.STRICT);
    }

    @TestFactory
    Stream<DynamicTest> closeInFastMode() throws IOException, InterruptedException {
        return run(MathMode.FAST);
    }

    private Stream<DynamicTest> run(MathMode math) throws IOException, InterruptedException {
        Path file = folder.resolve(math.name());
        String output = TornadoSdk.output(TornadoSdk.assumedWithDevice()
                .launch(List.of(), classPath(), DeviceChecks.class.getName(), List.of(file.toString(), math.name())));
        List<Result> results = new ArrayList<>();
        for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
            Result result = Result.of(line);
            if (!results.isEmpty() && results.getLast().name().equals(result.name())) {
                results.removeLast();
            }
            results.add(result);
        }
        assertThat(results).as(output).isNotEmpty();
        results.stream()
                .filter(result -> result.sign() == '#')
                .map(Result::name)
                .forEach(System.out::println);
        Path kernels = Path.of(file + DeviceChecks.KERNELS);
        return Stream.concat(
                results.stream().filter(result -> result.sign() != '#').map(result -> result.test(lastLines(output))),
                Stream.of(DynamicTest.dynamicTest("no product is left to the driver", () -> requireFused(kernels))));
    }

    private static void requireFused(Path kernels) throws IOException {
        KernelSources sources = KernelSources.of(Files.readAllLines(kernels));
        assertThat(sources.fused()).isGreaterThan(100);
        assertThat(sources.unfused()).isEmpty();
    }

    private static List<Path> classPath() {
        return Stream.of(System.getProperty("java.class.path").split(System.getProperty("path.separator")))
                .map(Path::of)
                .toList();
    }

    private static String lastLines(String output) {
        List<String> lines = output.lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
    }
}
