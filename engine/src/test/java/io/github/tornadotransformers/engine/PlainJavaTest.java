package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library in a JVM of its own, without a class of TornadoVM, with the flags that a user gives or forgets. */
class PlainJavaTest {
    private static final String VECTORS = "--add-modules=jdk.incubator.vector";
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";
    private static final String NO_OTHER_NATIVE = "--illegal-native-access=deny";

    @TempDir
    Path folder;

    @Test
    void flagsAreAllItNeeds() throws IOException, InterruptedException {
        LibraryModels.gpt2(folder);
        Run host = run("host", VECTORS, NATIVE, NO_OTHER_NATIVE);
        Run scalar = run("scalar", NATIVE, NO_OTHER_NATIVE);
        assertThat(host.out).startsWith("text ").isEqualTo(scalar.out);
        assertThat(scalar.err).isEmpty();
    }

    @Test
    void oneLineSaysThatTheVectorsFlagIsMissing() throws IOException, InterruptedException {
        LibraryModels.gpt2(folder);
        assertThat(run("host", NATIVE, NO_OTHER_NATIVE).out)
                .isEqualTo("EngineException engine host needs the module jdk.incubator.vector: start java with"
                        + " --add-modules jdk.incubator.vector\n");
    }

    @Test
    void oneLineSaysThatTheNativeFlagIsMissing() throws IOException, InterruptedException {
        LibraryModels.gpt2(folder);
        assertThat(run("host", VECTORS, NO_OTHER_NATIVE).out)
                .isEqualTo("EngineException the tokenizer is a native library: start java with"
                        + " --enable-native-access=ALL-UNNAMED\n");
    }

    @Test
    void aDeviceIsRefusedWhereTornadoVmIsNot() throws IOException, InterruptedException {
        LibraryModels.gpt2(folder);
        assertThat(run("tornado", VECTORS, NATIVE).out)
                .startsWith("DeviceException engine tornado: no TornadoVM SDK was found");
    }

    private record Run(String out, String err) {}

    private Run run(String engine, String... flags) throws IOException, InterruptedException {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("tornado-api"))
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", classPath, PlainProgram.class.getName(), folder.toString(), engine));
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return new Run(out, Files.readString(err));
    }
}
