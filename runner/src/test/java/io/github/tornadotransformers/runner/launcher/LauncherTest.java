package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ./transformers} and {@code tornado-env.sh}, with a fake Maven, JDK and SDK. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the launcher is a bash script")
class LauncherTest {
    private static final String BUILDING = "building (once, half a minute or so) …\n";
    private static final String BUILDING_AGAIN =
            "building again: the last build failed, and no source has changed since …\n";

    @TempDir
    private Path folder;

    private FakeCheckout checkout;

    @BeforeEach
    void makeCheckout() throws IOException {
        checkout = new FakeCheckout(folder);
        checkout.set("JAVA_HOME", checkout.jdk("25.0.3").toString());
    }

    @Test
    void buildsOnceAndSaysSo() throws Exception {
        ScriptRun first = checkout.launch("models");
        ScriptRun second = checkout.launch("models");
        assertThat(first.err()).startsWith(BUILDING).containsPattern("built in \\d+ s\n$");
        assertThat(second.err()).isEmpty();
        assertThat(checkout.mavenCalls()).hasSize(1);
        assertThat(second.out()).isEqualTo(first.out()).contains("java of 25.0.3");
    }

    @Test
    void buildTakesOptionsForMaven() throws Exception {
        checkout.set("MAVEN_ARGS", "-o -s settings.xml");
        checkout.launch("models");
        assertThat(checkout.mavenCalls().getFirst()).contains("-o -s settings.xml -pl runner -am");
    }

    @Test
    void argumentsOfTheBenchmarksAreNotTheLaunchers() throws Exception {
        assertThat(checkout.launch("jmh", "OpBenchmark", "-p", "op=lmHead").out())
                .contains("/transformers.jar]\n[jmh]\n[OpBenchmark]\n[-p]\n[op=lmHead]\n");
        assertThat(checkout.launch("jmh", "OpBenchmark", "-p", "op=x", "--help").out())
                .contains("/transformers.jar]\n[jmh]\n[--help]\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "-h", "-pl models --help"})
    void helpOfTheTestsRunsNone(String options) throws Exception {
        List<String> call =
                Stream.concat(Stream.of("test"), Stream.of(options.split(" "))).toList();
        assertThat(checkout.launch(call.toArray(String[]::new)).out())
                .contains("/transformers.jar]\n[test]\n[--help]\n");
    }

    @Test
    void argumentsArriveAsTheyAre() throws Exception {
        ScriptRun run = checkout.launch("gpt2", "it's \"so\" $HOME", "", "-n", "3", "é *");
        assertThat(run.out()).contains("[gpt2]\n[it's \"so\" $HOME]\n[]\n[-n]\n[3]\n[é *]\n");
    }

    @Test
    void exitCodeIsTheProgramsOwn() throws Exception {
        checkout.set("EXIT", "42");
        assertThat(checkout.launch("models").exitCode()).isEqualTo(42);
    }

    /** Whatever time the file claims: one from an archive may be older than the build. */
    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT24H", "PT-24H"})
    void changedSourceIsBuiltOnce(Duration ahead) throws Exception {
        checkout.launch("models");
        waitForTheFileSystemsClock();
        Files.writeString(checkout.source(), "class B {}");
        Files.setLastModifiedTime(checkout.source(), FileTime.from(Instant.now().plus(ahead)));
        assertThat(checkout.launch("models").err()).startsWith(BUILDING);
        assertThat(checkout.launch("models").err()).isEmpty();
    }

    private static void waitForTheFileSystemsClock() throws InterruptedException {
        Thread.sleep(20);
    }

    @Test
    void addedAndRemovedSourcesAreBuilt() throws Exception {
        checkout.launch("models");
        waitForTheFileSystemsClock();
        Path added = Files.writeString(checkout.source().resolveSibling("B.java"), "class B {}");
        assertThat(checkout.launch("models").err()).startsWith(BUILDING);
        waitForTheFileSystemsClock();
        Files.delete(added);
        assertThat(checkout.launch("models").err()).startsWith(BUILDING);
    }

    @Test
    void sourceDatedInTheFutureIsNotBuiltAtEveryStart() throws Exception {
        Files.setLastModifiedTime(checkout.source(), FileTime.from(Instant.now().plus(Duration.ofDays(400))));
        checkout.launch("models");
        assertThat(checkout.launch("models").err()).isEmpty();
        assertThat(checkout.mavenCalls()).hasSize(1);
    }

    @Test
    void sourceThatWasOnlyTouchedIsNotBuilt() throws Exception {
        checkout.launch("models");
        waitForTheFileSystemsClock();
        Files.writeString(checkout.source(), Files.readString(checkout.source()));
        assertThat(checkout.launch("models").err()).isEmpty();
        Files.delete(checkout.bin().resolve("cksum"));
        assertThat(checkout.launch("models").err()).as("compared once").isEmpty();
        assertThat(checkout.mavenCalls()).hasSize(1);
    }

    @Test
    void changedTestIsNotBuilt() throws Exception {
        checkout.launch("models");
        Path test = Files.createDirectories(checkout.root().resolve("runner/src/test"))
                .resolve("T.java");
        Files.writeString(test, "");
        Files.setLastModifiedTime(test, FileTime.from(Instant.now().plusSeconds(5)));
        assertThat(checkout.launch("models").err()).isEmpty();
    }

    @Test
    void twoStartsBuildOnce() throws Exception {
        FakeCheckout.script(checkout.bin().resolve("mvn.slow"), "sleep 1\n");
        Files.writeString(checkout.maven(), Files.readString(checkout.maven()) + "mvn.slow\n");
        RunningScript first = checkout.start("models");
        RunningScript second = checkout.start("models");
        assertThat(first.finish().exitCode()).isZero();
        assertThat(second.finish().exitCode()).isZero();
        assertThat(checkout.mavenCalls()).hasSize(1);
    }

    @Test
    void failedBuildShowsItsErrorsAndIsTriedAgain() throws Exception {
        checkout.maven("3.8.7", "echo '[INFO] x'; echo '[ERROR] A.java:[1,2] no such thing'; exit 1\n");
        ScriptRun run = checkout.launch("models");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
                .isEqualTo(BUILDING + "transformers: the build failed; the whole log is " + checkout.root()
                        + "/target/app/build.log\n[ERROR] A.java:[1,2] no such thing\n");
        assertThat(checkout.launch("models").err()).isEqualTo(run.err().replace(BUILDING, BUILDING_AGAIN));
        Files.writeString(checkout.source(), "class B {}");
        assertThat(checkout.launch("models").err()).isEqualTo(run.err());
        checkout.mavenOfVersion("3.8.7");
        assertThat(checkout.launch("models").err()).startsWith(BUILDING_AGAIN).contains("built in");
        Files.writeString(checkout.source(), "class C {}");
        assertThat(checkout.launch("models").err()).startsWith(BUILDING);
    }

    @Test
    void buildWithoutNetworkSaysWhatItNeeds() throws Exception {
        checkout.maven(
                "4.0.0",
                "echo '[ERROR] Could not transfer artifact x from central: Unknown host repo.maven.apache.org'; exit 1\n");
        assertThat(checkout.launch("models").err())
                .contains("The first build downloads its libraries from Maven Central: it needs the network");
    }

    @Test
    void withoutMavenTheProjectsOwnBuilds() throws Exception {
        Files.delete(checkout.maven());
        assertThat(checkout.launch("models").exitCode()).isZero();
        assertThat(checkout.mavenCalls()).singleElement().asString().startsWith("mvnw: -B -q");
    }

    @ParameterizedTest
    @CsvSource({"2.2.1, true", "3.6.3, true", "3.7, true", "3.8.1, false", "3.10.0, false", "4.0.0, false"})
    void mavenThatIsTooOldIsPassedBy(String version, boolean tooOld) throws Exception {
        checkout.mavenOfVersion(version);
        assertThat(checkout.launch("models").exitCode()).isZero();
        assertThat(checkout.mavenCalls().getFirst().startsWith("mvnw: ")).isEqualTo(tooOld);
    }

    /** The wrapper's own message is no line of Maven's. */
    @Test
    void mavenThatCannotBeFetchedSaysWhy() throws Exception {
        Files.delete(checkout.maven());
        FakeCheckout.script(
                checkout.root().resolve("mvnw"), "echo 'curl: Failed to fetch https://repo.example/maven'; exit 1\n");
        assertThat(checkout.launch("models").err())
                .contains("curl: Failed to fetch https://repo.example/maven\n")
                .contains("it needs the network, or a proxy or mirror");
    }

    @Test
    void builtProgramNeedsNoMaven() throws Exception {
        checkout.launch("models");
        Files.delete(checkout.maven());
        assertThat(checkout.launch("models").exitCode()).isZero();
    }

    @Test
    void buildThatWasKilledBeginsAfresh() throws Exception {
        checkout.launch("models");
        Path leftOver = Files.writeString(checkout.root().resolve("runner/target/half"), "");
        Files.writeString(checkout.root().resolve("target/app/started"), "build.1");
        Files.delete(checkout.root().resolve("target/app/current"));
        assertThat(checkout.launch("models").exitCode()).isZero();
        assertThat(leftOver).doesNotExist();
    }

    @Test
    void oldBuildsAreRemovedButTheOneBefore() throws Exception {
        for (int i = 1; i <= 3; i++) {
            Files.writeString(checkout.source(), "class A" + i + " {}");
            checkout.launch("models");
            waitForTheFileSystemsClock();
        }
        try (Stream<Path> builds = Files.list(checkout.root().resolve("target/app"))) {
            assertThat(builds.filter(Files::isDirectory)).hasSize(2);
        }
    }

    @Test
    void linkToTheLauncherWorks() throws Exception {
        Path link =
                Files.createSymbolicLink(folder.resolve("link"), checkout.root().resolve("transformers"));
        Path second = Files.createSymbolicLink(checkout.bin().resolve("tt"), Path.of("../link"));
        assertThat(checkout.run(link.toString(), "models").out()).contains("[models]");
        assertThat(checkout.run(second.toString(), "models").out()).contains("[models]");
        assertThat(checkout.run("bash", "-c", "tt models").out()).contains("[models]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transformers", "tornado-env.sh"})
    void copyOutsideTheProjectSaysThatALinkWorks(String name) throws Exception {
        Path copy = Files.copy(
                checkout.root().resolve(name), checkout.bin().resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
        for (String call : List.of(copy.toString(), name)) {
            ScriptRun run = checkout.run("bash", "-c", call + " models");
            assertThat(run.exitCode()).isNotZero();
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).doesNotContain("No such file", "command not found", "JDK");
        }
        assertThat(checkout.run(copy.toString()).err())
                .contains(copy + " is not in its project's folder: there is no " + checkout.bin() + "/")
                .containsIgnoringCase("link");
    }

    @Test
    void linkToTheDiagnosisWorks() throws Exception {
        Path link =
                Files.createSymbolicLink(folder.resolve("link"), checkout.root().resolve("tornado-env.sh"));
        checkout.set("CDPATH", folder.toString());
        ScriptRun run = checkout.run(link.toString());
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("JDK        25.0.3").contains("tornadovm 5.2.0-jdk25");
    }

    @Test
    void diagnosisNamesTheMavenThatBuilds() throws Exception {
        String diagnosis = checkout.root().resolve("tornado-env.sh").toString();
        assertThat(checkout.run(diagnosis).out())
                .contains("Maven      " + checkout.maven() + " (needed only to build)");
        checkout.mavenOfVersion("3.6.3");
        assertThat(checkout.run(diagnosis).out())
                .contains("Maven      " + checkout.maven()
                        + " is 3.6.3, and 3.8 is needed: the first build fetches its own (./mvnw)\n");
        Files.delete(checkout.maven());
        assertThat(checkout.run(diagnosis).out()).contains("Maven      none on PATH: the first build fetches its own");
    }

    /** The JVM refuses a first heap above the largest, and two collectors. */
    @ParameterizedTest
    @CsvSource({
        "TRANSFORMERS_JVM_FLAGS, -Dx=y, -Xms32m -XX:+UseSerialGC",
        "TRANSFORMERS_JVM_FLAGS, -Dx=y -Xmx24m, -XX:+UseSerialGC",
        "TRANSFORMERS_JVM_FLAGS, -Xms8m, -XX:+UseSerialGC",
        "TRANSFORMERS_JVM_FLAGS, -XX:MaxHeapSize=24m, -XX:+UseSerialGC",
        "TRANSFORMERS_JVM_FLAGS, -XX:+UseZGC, -Xms32m",
        "JAVA_TOOL_OPTIONS, -Xmx24m -XX:+UseG1GC, ''",
        "JDK_JAVA_OPTIONS, -Xmx24m, -XX:+UseSerialGC",
        "_JAVA_OPTIONS, -Xmx24m, -XX:+UseSerialGC",
    })
    void flagsOfTheUserReplaceOurs(String variable, String flags, String ours) throws Exception {
        checkout.launch("models");
        checkout.set(variable, flags);
        List<String> found = checkout.launch("models")
                .out()
                .lines()
                .filter(line -> line.matches("\\[-(Xms32m|XX:\\+UseSerialGC)]"))
                .map(line -> line.substring(1, line.length() - 1))
                .toList();
        assertThat(String.join(" ", found)).isEqualTo(ours);
    }

    /** With the real JVM, whose messages are under test. */
    @ParameterizedTest
    @ValueSource(strings = {"-Xmxnonsense", "-Xms2g -Xmx1g", "-XX:+UseG1GC -XX:+UseSerialGC"})
    void errorsOfTheJvmAreNotAmongTheResult(String flags) throws Exception {
        checkout.launch("models");
        writeEmptyProgram();
        checkout.set("JAVA_HOME", System.getProperty("java.home"));
        checkout.set("TRANSFORMERS_JVM_FLAGS", flags);
        ScriptRun run = checkout.launch("models");
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).containsAnyOf("heap size", "garbage collectors");
    }

    /** The real java reads the jar before it begins. */
    private void writeEmptyProgram() throws IOException {
        Path app = checkout.root().resolve("target/app");
        Path jar = app.resolve(Files.readString(app.resolve("current")).strip()).resolve("transformers.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "None");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    }

    @Test
    void olderJavaHomeIsPassedBy() throws Exception {
        Path newer = checkout.jdk("25");
        checkout.set("JAVA_HOME", checkout.jdk("17.0.15").toString());
        Files.createSymbolicLink(checkout.bin().resolve("java"), newer.resolve("bin/java"));
        assertThat(checkout.launch("models").out()).contains("java of 25\n");
    }

    @Test
    void olderJavaOnPathIsPassedBy() throws Exception {
        Path older = checkout.jdk("21.0.1");
        Files.createSymbolicLink(checkout.bin().resolve("java"), older.resolve("bin/java"));
        assertThat(checkout.launch("models").out()).contains("java of 25.0.3\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-e tornado",
                "-eopencl",
                "--engine ptx",
                "--engine=spirv",
                "--engines host,cuda",
                "--engines=metal"
            })
    void deviceEngineGoesThroughTheSdk(String option) throws Exception {
        checkout.set("TORNADOVM_HOME", checkout.sdk("an SDK").toString());
        ScriptRun run = checkout.launch(Stream.concat(Stream.of("llama"), Stream.of(option.split(" ", -1)))
                .toArray(String[]::new));
        assertThat(run.out()).startsWith("[--jvm=").contains("[-jar]\n").contains("{llama}\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tornado", "host,opencl"})
    void benchmarksOfADeviceGoThroughTheSdk(String engines) throws Exception {
        checkout.set("TORNADOVM_HOME", checkout.sdk("an SDK").toString());
        assertThat(checkout.launch("jmh", "-p", "engine=" + engines).out())
                .startsWith("[--jvm=")
                .endsWith("{jmh}\n{-p}\n{engine=" + engines + "}\n");
        assertThat(checkout.launch("jmh", "-p", "engine=host").out()).startsWith("java of 25.0.3\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-e host", "--engine=scalar", "-- -e tornado", "tornado", "--stop tornado"})
    void otherCallsDoNot(String options) throws Exception {
        checkout.set("TORNADOVM_HOME", checkout.sdk("an SDK").toString());
        ScriptRun run = checkout.launch(Stream.concat(Stream.of("llama"), Stream.of(options.split(" ", -1)))
                .toArray(String[]::new));
        assertThat(run.out()).startsWith("java of 25.0.3\n");
    }

    @Test
    void argumentsArriveThroughTheSdkAsTheyAre() throws Exception {
        checkout.set("TORNADOVM_HOME", checkout.sdk("an SDK").toString());
        ScriptRun run = checkout.launch("gpt2", "it's \"so\" $HOME", "", "-e", "ptx", "é *");
        assertThat(run.out()).endsWith("{gpt2}\n{it's \"so\" $HOME}\n{}\n{-e}\n{ptx}\n{é *}\n");
    }

    @Test
    void sdksExitCodeAndStderrComeThroughWithoutTheIncubatorWarning() throws Exception {
        checkout.set("TORNADOVM_HOME", checkout.sdk("an SDK").toString());
        checkout.set("EXIT", "3");
        checkout.launch("models");
        ScriptRun run = checkout.launch("gpt2", "-e", "tornado");
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).isEqualTo("from tornado\nfrom tornado, last");
    }

    @Test
    void deviceEngineWithoutSdkIsLeftToTheProgramToRefuse() throws Exception {
        assertThat(checkout.launch("llama", "-e", "tornado").out()).contains("java of 25.0.3\n");
    }

    @Test
    void devicesAreAskedForThroughTheSdk() throws Exception {
        checkout.sdk("home/.tornadovm");
        assertThat(checkout.launch("devices").out()).startsWith("[--jvm=").endsWith("{devices}\n");
    }

    @Test
    void fastDeviceIsTheDefaultAndAskedForOnce() throws Exception {
        Path sdk = checkout.sdk("home/.tornadovm");
        checkout.plugInGpu();
        checkout.set("DEFAULT_ENGINE", "tornado");
        for (int start = 0; start < 2; start++) {
            assertThat(checkout.launch("llama", "hello").out())
                    .startsWith("[--jvm=")
                    .endsWith("{llama}\n{-e}\n{tornado}\n{hello}\n");
        }
        assertThat(Files.readAllLines(sdk.resolve("asked"))).hasSize(1);
    }

    @Test
    void hostIsTheDefaultWhereTheSdkReachesNoFastDevice() throws Exception {
        Path sdk = checkout.sdk("home/.tornadovm");
        checkout.plugInGpu();
        assertThat(checkout.launch("llama", "hello").out()).startsWith("java of 25.0.3\n");
        assertThat(sdk.resolve("asked")).exists();
    }

    @Test
    void sdkIsNotAskedWhereThereIsNoGpu() throws Exception {
        Path sdk = checkout.sdk("home/.tornadovm");
        checkout.set("DEFAULT_ENGINE", "tornado");
        assertThat(checkout.launch("llama", "hello").out()).startsWith("java of 25.0.3\n");
        assertThat(sdk.resolve("asked")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2 -e host", "llama --engine=scalar", "gpt2 --help", "tokenize hello", "models"})
    void sdkIsNotAskedWhereItDoesNotMatter(String call) throws Exception {
        Path sdk = checkout.sdk("home/.tornadovm");
        checkout.plugInGpu();
        checkout.set("DEFAULT_ENGINE", "tornado");
        assertThat(checkout.launch(call.split(" ", -1)).out()).startsWith("java of 25.0.3\n");
        assertThat(sdk.resolve("asked")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"C", "POSIX", "de_DE.ISO-8859-1"})
    void otherLocalesBecomeUtf8(String locale) throws Exception {
        checkout.set("LC_ALL", locale);
        assertThat(checkout.launch("models").out()).contains("LC_ALL=C.UTF-8 ");
    }

    @Test
    void testRunsTheWholeCheck() throws Exception {
        FakeCheckout.script(checkout.root().resolve(".ci/run"), "printf 'check [%s]\\n' \"$@\"\n");
        assertThat(checkout.launch("test", "-pl", "models"))
                .isEqualTo(new ScriptRun(0, "check [-pl]\ncheck [models]\n", ""));
    }

    @Test
    void sourcedEnvironmentIsExported() throws Exception {
        Path sdk = checkout.sdk("home/.tornadovm");
        ScriptRun run = checkout.run(
                "bash",
                "-c",
                ". 'a checkout of Zoë/tornado-env.sh'; env | grep -E '^(JAVA_HOME|TORNADOVM_HOME|PATH)='; declare -F");
        assertThat(run.out().lines())
                .containsExactlyInAnyOrder(
                        "JAVA_HOME=" + folder.resolve("JDK 25.0.3"),
                        "TORNADOVM_HOME=" + sdk,
                        "PATH=" + sdk + "/bin:" + folder.resolve("JDK 25.0.3") + "/bin:" + checkout.bin());
    }

    @Test
    void diagnosisNamesWhatIsThere() throws Exception {
        Path sdk = checkout.sdk("home/.tornadovm");
        ScriptRun run = checkout.run(checkout.root().resolve("tornado-env.sh").toString());
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("JDK        25.0.3  " + folder.resolve("JDK 25.0.3") + " (JAVA_HOME)\n")
                .contains("TornadoVM  5.2.0-jdk25  " + sdk)
                .contains("Backends   opencl ptx\n");
    }

    @Test
    void diagnosisOfAWrongSdkFolderSaysHowToGetOne() throws Exception {
        checkout.set("TORNADOVM_HOME", folder.resolve("nix").toString());
        ScriptRun run = checkout.run(checkout.root().resolve("tornado-env.sh").toString());
        assertThat(run.out())
                .contains("TORNADOVM_HOME=" + folder.resolve("nix") + " holds no SDK")
                .contains("sdk install tornadovm 5.2.0-jdk25-opencl");
    }
}
