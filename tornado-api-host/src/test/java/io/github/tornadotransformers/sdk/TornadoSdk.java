package io.github.tornadotransformers.sdk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * An installed TornadoVM, for tests that need one: {@link #assumed} skips the test, with the reason, where there is none of the
 * version this project is built for.
 */
public record TornadoSdk(Path home) {
    private static final String HOME_VARIABLE = "TORNADOVM_HOME";

    /** Set by the build to the version this project is built for. */
    private static final String WANTED_VERSION = "tornado.version";

    /** The SDK to test with; without it the calling test is skipped. */
    public static TornadoSdk assumed() {
        String wanted = System.getProperty(WANTED_VERSION);
        TornadoSdk sdk =
                find(System.getenv(), Path.of(System.getProperty("user.home"))).orElse(null);
        Assumptions.assumeTrue(
                sdk != null,
                () -> "no TornadoVM SDK in $%s, ~/.tornadovm or SDKMAN's folder; ./tornado-env.sh says how to get one"
                        .formatted(HOME_VARIABLE));
        Assumptions.assumeTrue(
                sdk.version().equals(wanted),
                () -> "the TornadoVM SDK in %s is %s; this project is built for %s"
                        .formatted(sdk.home, sdk.version(), wanted));
        return sdk;
    }

    /** Like {@link #assumed}, and the SDK must find a device too. */
    public static TornadoSdk assumedWithDevice() throws IOException, InterruptedException {
        TornadoSdk sdk = assumed();
        Assumptions.assumeTrue(
                sdk.listDevices().contains("Tornado device="),
                () -> "the TornadoVM SDK in %s finds no device; on Debian, pocl-opencl-icd brings a CPU device"
                        .formatted(sdk.home));
        return sdk;
    }

    private String listDevices() throws IOException, InterruptedException {
        return output(process(List.of(home.resolve("bin/tornado").toString(), "--devices")));
    }

    /** What {@code process} writes, errors among it, until it ends. */
    public static String output(ProcessBuilder process) throws IOException, InterruptedException {
        Process running = process.redirectErrorStream(true).start();
        String output = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        running.waitFor();
        return output;
    }

    /** The first SDK of those the environment names, that of the user's folder, and SDKMAN's. */
    static Optional<TornadoSdk> find(Map<String, String> environment, Path userHome) {
        Stream<Path> named = Optional.ofNullable(environment.get(HOME_VARIABLE)).map(Path::of).stream();
        Path own = userHome.resolve(".tornadovm");
        Stream<Path> usual = Stream.of(
                        Stream.of(own),
                        folders(own).stream(),
                        Stream.of(userHome.resolve(".sdkman/candidates/tornadovm/current")))
                .flatMap(each -> each);
        return Stream.concat(named, usual)
                .filter(home -> Files.isRegularFile(release(home)))
                .map(TornadoSdk::new)
                .findFirst();
    }

    /** A release that is unpacked there makes a folder of its own. */
    private static List<Path> folders(Path folder) {
        try (Stream<Path> inside = Files.list(folder)) {
            return inside.sorted().toList();
        } catch (IOException _) {
            return List.of();
        }
    }

    private static Path release(Path home) {
        return home.resolve("etc/tornado.release");
    }

    /** Such as {@code 5.2.0-jdk25}. */
    public String version() {
        return read(release(home)).getProperty("version", "unknown");
    }

    /** The backends it was built with, such as {@code opencl-backend}. */
    public List<String> backends() {
        String backends = read(home.resolve("etc/tornado.backend")).getProperty("tornado.backends", "");
        return Stream.of(backends.split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
    }

    public Path apiJar() {
        return home.resolve("share/java/tornado/tornado-api-" + version() + ".jar");
    }

    /**
     * A process that runs {@code mainClass} on this SDK, with the JDK that runs the test.
     *
     * @param jvmFlags as the launcher's {@code --jvm} takes them
     */
    public ProcessBuilder launch(
            List<String> jvmFlags, List<Path> classPath, String mainClass, List<String> arguments) {
        String separator = System.getProperty("path.separator");
        List<String> command = new ArrayList<>(List.of(
                home.resolve("bin/tornado").toString(),
                "--jvm=" + String.join(" ", jvmFlags),
                "-cp",
                quoted(String.join(
                        separator, classPath.stream().map(Path::toString).toList())),
                mainClass));
        command.addAll(arguments);
        return process(command);
    }

    /** The launcher builds a line for a shell. */
    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    private ProcessBuilder process(List<String> command) {
        ProcessBuilder process = new ProcessBuilder(command);
        process.environment().put(HOME_VARIABLE, home.toString());
        process.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return process;
    }

    private static Properties read(Path file) {
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException e) {
            throw new UncheckedIOException(file + " cannot be read: " + e.getMessage(), e);
        }
        return properties;
    }
}
