package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The examples, built and run as a user would: {@code mvn install} of the library, from a copy of its sources into a repository
 * of its own, then {@code mvn package} of the project that stands outside.
 */
class InstalledLibraryTest {
    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
    private static final Path MODEL = PROJECT.resolve("pretrained").resolve("shakespeare-llama");
    private static final String LIBRARY = "engine,training,bom";
    private static final String PROMPT = "ROMEO:";
    private static final List<String> FLAGS =
            List.of("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED");
    private static final Pattern NO_NETWORK =
            Pattern.compile("Could not transfer|Unknown host|offline mode|Connection refused|timed out");
    private static final int PATIENCE_MINUTES = 15;

    @TempDir
    static Path folder;

    private static Path repository;
    private static Path built;

    @BeforeAll
    static void installAndBuildTheExamples() throws IOException, InterruptedException {
        Path maven = maven();
        repository = repository();
        Path sources = folder.resolve("sources");
        copySources(sources);
        List<String> unchecked = List.of("-Dquick", "-Partifacts", "-Dmaven.test.skip", "-Dspotless.check.skip");
        mvn(maven, sources, unchecked, "-pl", LIBRARY, "-am", "install");
        built = sources.resolve("examples").resolve("target");
        mvn(maven, sources.resolve("examples"), List.of(), "package");
    }

    private static Path maven() {
        String home = System.getProperty("maven.home", "");
        Path maven = Path.of(home, "bin", File.separatorChar == '\\' ? "mvn.cmd" : "mvn");
        assumeTrue(!home.isEmpty() && Files.isExecutable(maven), "Maven is not there: this test was not started by it");
        return maven;
    }

    /** What this project installs is kept apart; everything else is the user's own, so that nothing is fetched twice. */
    private static Path repository() throws IOException {
        Path users = Path.of(System.getProperty("local.repository", ""));
        assumeTrue(Files.isDirectory(users), "there is no local Maven repository " + users);
        Path mixed = folder.resolve("repository");
        Path own = Path.of("io", "github", "tornadotransformers");
        for (int depth = 0; depth < own.getNameCount(); depth++) {
            Path parent = depth == 0 ? Path.of("") : own.subpath(0, depth);
            Files.createDirectories(mixed.resolve(parent));
            if (Files.isDirectory(users.resolve(parent))) {
                linkAllBut(own.getName(depth), users.resolve(parent), mixed.resolve(parent));
            }
        }
        return mixed;
    }

    private static void linkAllBut(Path name, Path from, Path to) throws IOException {
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.filter(each -> !each.endsWith(name)).toList()) {
                Files.createSymbolicLink(to.resolve(entry.getFileName()), entry.toAbsolutePath());
            }
        }
    }

    private static void copySources(Path to) throws IOException {
        copy(PROJECT.resolve("pom.xml"), to);
        copy(PROJECT.resolve(".mvn"), to);
        try (Stream<Path> folders = Files.list(PROJECT)) {
            for (Path each : folders.filter(each -> Files.isRegularFile(each.resolve("pom.xml")))
                    .toList()) {
                copy(each.resolve("pom.xml"), to);
                copy(each.resolve("src").resolve("main"), to);
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        if (!Files.exists(from)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(from)) {
            for (Path file : tree.filter(Files::isRegularFile).toList()) {
                Path copy = to.resolve(PROJECT.relativize(file));
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
    }

    private static void mvn(Path maven, Path in, List<String> options, String... arguments)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(maven.toString(), "-B", "-q", "-ntp", "-Dmaven.repo.local=" + repository));
        command.addAll(options);
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(in.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Run run = Run.of(builder);
        if (run.exitCode != 0 && NO_NETWORK.matcher(run.out).find()) {
            abort("Maven needs the network here: "
                    + run.out.lines().filter(line -> line.contains("ERROR")).findFirst());
        }
        assertThat(run.exitCode).as("%s: %s", command, run.out).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"models", "host-reference", "kernels", "taskgraphs", "training", "engine"})
    void everyModuleHasSourcesAndJavadoc(String module) throws IOException {
        Path versions = repository.resolve(Path.of("io", "github", "tornadotransformers", module));
        try (Stream<Path> files = Files.walk(versions)) {
            List<String> jars = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jar"))
                    .map(name -> name.replaceFirst("\\d.*(?=-SNAPSHOT)", "V"))
                    .toList();
            String prefix = module + "-V-SNAPSHOT";
            assertThat(jars).contains(prefix + ".jar", prefix + "-sources.jar", prefix + "-javadoc.jar");
        }
    }

    @Test
    void aUserGetsNeitherTornadoVmNorTheCommandLine() throws IOException {
        try (Stream<Path> jars = Files.list(built.resolve("lib"))) {
            assertThat(jars.map(jar -> jar.getFileName().toString()))
                    .anyMatch(name -> name.startsWith("engine-"))
                    .noneMatch(name -> name.startsWith("tornado-api") || name.startsWith("picocli"));
        }
    }

    @Test
    void aManifestStandsForAllFlags() throws IOException, InterruptedException {
        Run run = java("-jar", built.resolve("examples.jar").toString(), MODEL.toString(), PROMPT);
        try (LanguageModel model = LanguageModel.load(MODEL)) {
            assertThat(run).isEqualTo(new Run(0, model.generate(PROMPT) + "\n", ""));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "scalar"})
    void enginesRunWithFlags(String engine) throws IOException, InterruptedException {
        Run run = example("Stream", MODEL.toString(), engine, PROMPT);
        assertThat(run.err).contains("tokens on " + engine + ", ");
        assertThat(run.out).isNotBlank().isEqualTo(example("Stream", MODEL.toString(), "scalar", PROMPT).out);
    }

    @Test
    void likeliestTokensAreShown() throws IOException, InterruptedException {
        assertThat(example("NextTokens", MODEL.toString(), PROMPT).out.lines()).hasSize(5);
    }

    @Test
    void errorsTellWhoCanMendThem() throws IOException, InterruptedException {
        assertThat(example("Stream", built.toString(), "host", PROMPT).err).contains("Look at the model: ");
        assertThat(example("Stream", MODEL.toString(), "opencl", PROMPT).err)
                .contains("Try another engine: engine opencl: no TornadoVM SDK was found");
        assertThat(example("Stream", MODEL.toString(), "host", PROMPT.repeat(200)).err)
                .contains("Ask for something else: the prompt has ");
    }

    private static Run example(String name, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(FLAGS);
        String classPath = built.resolve("classes")
                + File.pathSeparator
                + built.resolve("lib").resolve("*");
        command.addAll(List.of("-cp", classPath, "examples." + name));
        command.addAll(List.of(arguments));
        return java(command.toArray(String[]::new));
    }

    private static Run java(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments));
        return Run.of(new ProcessBuilder(command));
    }

    private record Run(int exitCode, String out, String err) {
        static Run of(ProcessBuilder builder) throws IOException, InterruptedException {
            Path out = Files.createTempFile(folder, "out", "");
            Path err = Files.createTempFile(folder, "err", "");
            Process process = builder.redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .redirectInput(
                            ProcessBuilder.Redirect.from(new File(File.separatorChar == '\\' ? "NUL" : "/dev/null")))
                    .start();
            if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new AssertionError(builder.command() + " has not ended: " + Files.readString(out));
            }
            return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
        }
    }
}
