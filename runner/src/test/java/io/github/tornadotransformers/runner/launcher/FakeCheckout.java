package io.github.tornadotransformers.runner.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The launcher's scripts in a folder of their own, on a machine of their own: PATH holds the few tools that they need, a
 * fake {@code mvn} that makes the files of a build, and JDKs and SDKs that print how they were called.
 */
final class FakeCheckout {
    private static final List<String> TOOLS = List.of(
            "bash",
            "sh",
            "cat",
            "cksum",
            "cp",
            "cut",
            "dirname",
            "env",
            "find",
            "flock",
            "grep",
            "head",
            "mkdir",
            "mv",
            "readlink",
            "rm",
            "sed",
            "sleep",
            "sort",
            "uname");

    /** Writes down how it is called, and makes the files of a build. */
    private static final String BUILD = """
            echo "$@" >> '%s'
            echo '[INFO] quiet'
            mkdir -p runner/target/lib
            echo jar > runner/target/transformers.jar
            """;

    private final Path folder;
    private final Path root;
    private final Path bin;
    private final Map<String, String> environment = new TreeMap<>();

    FakeCheckout(Path folder) throws IOException {
        this.folder = folder;
        root = Files.createDirectories(folder.resolve("a checkout of Zoë"));
        bin = Files.createDirectories(folder.resolve("bin"));
        for (String name : List.of("transformers", "tornado-env.sh", "pom.xml")) {
            Files.copy(projectRoot().resolve(name), root.resolve(name));
        }
        for (String tool : TOOLS) {
            linkTool(tool, bin);
        }
        Files.createDirectories(root.resolve("runner/src/main"));
        Files.writeString(root.resolve("runner/pom.xml"), "<project/>");
        Files.writeString(source(), "class A {}");
        maven("3.9.1", BUILD.formatted(mavenLog()));
        script(root.resolve("mvnw"), "printf 'mvnw: ' >> '%s'\n".formatted(mavenLog()) + BUILD.formatted(mavenLog()));
        environment.put("PATH", bin.toString());
        environment.put("HOME", Files.createDirectories(folder.resolve("home")).toString());
        environment.put("LANG", "C.UTF-8");
        environment.put("TT_DEV", folder.resolve("dev").toString());
        environment.put("OCL_ICD_VENDORS", folder.resolve("drivers").toString());
    }

    /** Puts a Maven on PATH that says it is of {@code version}, and builds as {@code body} does. */
    void maven(String version, String body) throws IOException {
        script(maven(), "case $* in *-v) echo 'Apache Maven %s (x)'; exit ;; esac\n".formatted(version) + body);
    }

    /** The same Maven, but of another version. */
    void mavenOfVersion(String version) throws IOException {
        maven(version, BUILD.formatted(mavenLog()));
    }

    Path maven() {
        return bin.resolve("mvn");
    }

    static Path projectRoot() {
        Path candidate = Path.of("").toAbsolutePath();
        while (!Files.exists(candidate.resolve("transformers"))) {
            candidate = candidate.getParent();
        }
        return candidate;
    }

    /** Puts a tool of this machine, if it has it, into a folder that is on the PATH of another. */
    static void linkTool(String name, Path bin) throws IOException {
        for (String folderName : System.getenv("PATH").split(":", -1)) {
            Path tool = Path.of(folderName, name);
            if (Files.isExecutable(tool)) {
                Files.createSymbolicLink(bin.resolve(name), tool);
                return;
            }
        }
    }

    Path root() {
        return root;
    }

    /** A folder on PATH. */
    Path bin() {
        return bin;
    }

    Path source() {
        return root.resolve("runner/src/main/A.java");
    }

    private Path mavenLog() {
        return folder.resolve("maven.log");
    }

    /** What Maven was called with, a line a call. */
    List<String> mavenCalls() throws IOException {
        return Files.exists(mavenLog()) ? Files.readAllLines(mavenLog()) : List.of();
    }

    void set(String variable, String value) {
        environment.put(variable, value);
    }

    /** A JDK whose {@code java} prints its own folder and its arguments, and exits with {@code EXIT}, if that is set. */
    Path jdk(String version) throws IOException {
        Path home = Files.createDirectories(folder.resolve("JDK " + version));
        script(home.resolve("bin/java"), """
                printf 'java of %s\\n'
                printf '[%%s]\\n' "$@"
                printf 'LC_ALL=%%s LC_CTYPE=%%s TORNADOVM_HOME=%%s\\n' "${LC_ALL:-}" "${LC_CTYPE:-}" "${TORNADOVM_HOME:-}"
                exit ${EXIT:-0}
                """.formatted(version));
        script(home.resolve("bin/javac"), "");
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    /** An SDK whose {@code tornado} prints its arguments, and hands {@code --params} to a shell, as the real one does. */
    Path sdk(String name) throws IOException {
        Path home = Files.createDirectories(folder.resolve(name));
        Files.createDirectories(home.resolve("share/java/tornado"));
        Files.createDirectories(home.resolve("etc"));
        Files.writeString(home.resolve("etc/tornado.release"), "version=5.2.0-jdk25\n");
        Files.writeString(home.resolve("etc/tornado.backend"), "tornado.backends=opencl-backend,ptx-backend\n");
        script(home.resolve("bin/tornado"), """
                echo 'WARNING: Using incubator modules: jdk.incubator.vector' >&2
                case "$*" in
                  *--default-engine*) echo asked >> "$TORNADOVM_HOME/asked"; echo "${DEFAULT_ENGINE:-host}"; exit ;;
                esac
                echo 'from tornado' >&2
                for argument in "$@"; do
                  case $argument in
                    --params=*) eval "printf '{%s}\\n' ${argument#--params=}" ;;
                    *) printf '[%s]\\n' "$argument" ;;
                  esac
                done
                printf 'from tornado, last' >&2
                exit ${EXIT:-0}
                """);
        return home;
    }

    /** A device node of a GPU. */
    void plugInGpu() throws IOException {
        Files.createDirectories(folder.resolve("dev"));
        Files.writeString(folder.resolve("dev/nvidia0"), "");
    }

    static void script(Path file, String body) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + body);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Runs the launcher to its end. */
    ScriptRun launch(String... arguments) throws Exception {
        return start(arguments).finish();
    }

    /** Runs another command on this machine to its end. */
    ScriptRun run(String... command) throws Exception {
        return RunningScript.start(folder, environment, List.of(command)).finish();
    }

    RunningScript start(String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(List.of(root.resolve("transformers").toString()));
        command.addAll(List.of(arguments));
        return RunningScript.start(folder, environment, command);
    }
}
