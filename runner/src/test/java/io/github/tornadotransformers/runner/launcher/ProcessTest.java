package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.runner.Main;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program in a JVM of its own, which is started as the launcher does. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "signals and pipes are those of Unix")
class ProcessTest {
    private static final List<Process> STARTED = new ArrayList<>();
    private static final int PATIENCE_SECONDS = 60;
    private static final int MANY_TOKENS = 200_000;

    @TempDir
    private static Path folder;

    private static String model;

    @BeforeAll
    static void writeModel() {
        Path path = folder.resolve("long");
        RopeScaling unscaled = new RopeScaling.None();
        TestCheckpoints.write(
                path,
                new LlamaConfig(
                        new Sizes(TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE, MANY_TOKENS, 16, 16, 1),
                        new Heads(2, 1, 8),
                        new Rope(10_000, 8, unscaled),
                        1e-5f,
                        false,
                        false,
                        true),
                1);
        model = TestTokenizers.byteFallback(path).toString();
    }

    @Test
    void closedPipeEndsItQuietly() throws Exception {
        Process process = generate("--quiet");
        try (InputStream out = process.getInputStream()) {
            assertThat(out.readNBytes(10)).hasSize(10);
        }
        assertThat(exitCode(process)).isEqualTo(ExitCode.CLOSED_PIPE);
        assertThat(errorsOf(process)).isEmpty();
    }

    @Test
    void interruptEndsTheTextWithANewline() throws Exception {
        Process process = generate("--quiet");
        InputStream out = process.getInputStream();
        byte[] begun = out.readNBytes(10);
        interrupt(process);
        byte[] rest = out.readAllBytes();
        assertThat(exitCode(process)).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(begun).hasSize(10);
        assertThat(rest[rest.length - 1]).isEqualTo((byte) '\n');
        assertThat(errorsOf(process)).isEmpty();
    }

    @Test
    void interruptLeavesAWholeObject() throws Exception {
        Process process = generate("--json");
        awaitErrorLine(process, "on engine host");
        interrupt(process);
        byte[] out = process.getInputStream().readAllBytes();
        assertThat(exitCode(process)).isEqualTo(ExitCode.INTERRUPTED);
        JsonNode object = new ObjectMapper().readTree(out);
        assertThat(object.get("stop_reason").asText()).isEqualTo("cancelled");
        assertThat(object.get("ids").size()).isLessThan(MANY_TOKENS - 11);
        assertThat(object.get("text").isTextual()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "--version", "llama --help", "models", "models --json"})
    void fullDiskIsAnErrorOfOneLine(String call) throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/full")), "there is no /dev/full here");
        Process process = start(ProcessBuilder.Redirect.to(Path.of("/dev/full").toFile()), call.split(" "));
        assertThat(exitCode(process)).isEqualTo(ExitCode.FAILURE);
        assertThat(errorsOf(process))
                .matches("transformers[a-z ]*: standard output cannot be written: No space left on device\n");
    }

    @Test
    void closedOutputIsAnErrorOfOneLine() throws Exception {
        List<String> shell = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" >&-", "sh"));
        shell.addAll(command("--version"));
        Process process = new ProcessBuilder(shell).start();
        assertThat(exitCode(process)).isEqualTo(ExitCode.FAILURE);
        assertThat(errorsOf(process))
                .isEqualTo("transformers: standard output cannot be written: Bad file descriptor\n");
    }

    @Test
    void aPipeIsRead() throws Exception {
        Process process = start(ProcessBuilder.Redirect.PIPE, "llama", "-m", model, "-n", "2", "--json", "-q");
        process.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        assertThat(promptIds(process)).isEqualTo("[1,291]");
    }

    @Test
    void aFileThatIsRedirectedIsReadAndNothingIsNot() throws Exception {
        Path text = Files.writeString(folder.resolve("text"), "hello");
        List<String> call = command("llama", "-m", model, "-n", "2", "--json", "-q");
        assertThat(promptIds(
                        new ProcessBuilder(call).redirectInput(text.toFile()).start()))
                .isEqualTo("[1,291]");
        File nothing = new File("/dev/null");
        assertThat(promptIds(new ProcessBuilder(call).redirectInput(nothing).start()))
                .isEqualTo("[1]");
    }

    private static String promptIds(Process process) throws Exception {
        JsonNode object = new ObjectMapper().readTree(process.getInputStream().readAllBytes());
        assertThat(exitCode(process)).isEqualTo(ExitCode.OK);
        return object.get("prompt_ids").toString();
    }

    /** A step of a million windows. */
    @Test
    void interruptSaysWhatItWaitsForAndASecondEndsTheTraining() throws Exception {
        Path text = Files.writeString(folder.resolve("text"), "hello world\n".repeat(200));
        Process process = start(
                ProcessBuilder.Redirect.PIPE,
                "train",
                model,
                "--data",
                text.toString(),
                "--out",
                folder.resolve("out").toString(),
                "--context",
                "16",
                "--batch",
                "1000000");
        awaitErrorLine(process, "from step 0 of 1000");
        interrupt(process);
        awaitErrorLine(
                process, "finishing step 1, then writing the state; Ctrl-C again ends at once, and nothing is kept");
        long before = System.nanoTime();
        interrupt(process);
        assertThat(exitCode(process)).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(PATIENCE_SECONDS / 2));
        assertThat(process.getInputStream().readAllBytes()).isEmpty();
    }

    @Test
    void vectorModuleIsAddedWithoutAWarning() throws Exception {
        Process process = start(ProcessBuilder.Redirect.PIPE, "llama", "-m", model, "-n", "2", "-q", "hello");
        assertThat(exitCode(process)).isEqualTo(ExitCode.OK);
        assertThat(errorsOf(process)).isEmpty();
    }

    private static Process generate(String option) throws IOException {
        String tokens = String.valueOf(MANY_TOKENS - 10);
        return start(
                ProcessBuilder.Redirect.PIPE,
                "llama",
                "-m",
                model,
                "-n",
                tokens,
                "--context",
                String.valueOf(MANY_TOKENS),
                option,
                "hello");
    }

    private static Process start(ProcessBuilder.Redirect out, String... arguments) throws IOException {
        Process process =
                new ProcessBuilder(command(arguments)).redirectOutput(out).start();
        STARTED.add(process);
        return process;
    }

    /** A test that fails or is skipped leaves nothing running. */
    @AfterEach
    void end() {
        STARTED.forEach(Process::destroyForcibly);
        STARTED.clear();
    }

    private static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-exports=java.base/jdk.internal.module=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static void interrupt(Process process) throws Exception {
        assumeTrue(
                !ignoresInterrupts(process),
                "the build was started with SIGINT ignored, as a background job of a shell");
        assertThat(new ProcessBuilder("kill", "-INT", String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private static boolean ignoresInterrupts(Process process) throws IOException {
        Path status = Path.of("/proc", String.valueOf(process.pid()), "status");
        if (Files.notExists(status)) {
            return false;
        }
        String ignored = Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .findFirst()
                .orElseThrow();
        return (Long.parseUnsignedLong(ignored.substring(7).strip(), 16) & 2) != 0;
    }

    private static int exitCode(Process process) throws InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("the program does not end");
        }
        return process.exitValue();
    }

    private static String errorsOf(Process process) throws IOException {
        return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Other lines may come before, on a busy machine. */
    private static void awaitErrorLine(Process process, String words) throws IOException {
        String line;
        do {
            line = process.errorReader().readLine();
            assertThat(line).as("a line of stderr with \"" + words + "\"").isNotNull();
        } while (!line.contains(words));
    }
}
