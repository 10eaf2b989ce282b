package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.reporting.open.xml.OpenTestReportGeneratingListener;

/** {@code .ci/TestSummary.java} on JUnit's reports of the classes below: nothing that did not run goes uncounted or unnamed. */
class TestSummaryTest {
    @TempDir
    private Path folder;

    static class Passing {
        @Test
        void one() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void two(int argument) {}

        @TestFactory
        Stream<DynamicTest> three() {
            return Stream.of(dynamicTest("x", () -> {}), dynamicTest("y", () -> {}), dynamicTest("z", () -> {}));
        }
    }

    static class Skipping {
        @Test
        void test() {
            abort("no device");
        }

        @Test
        @Disabled("not today")
        void disabled() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void some(int argument) {
            if (argument == 2) {
                abort("two is too many");
            }
        }

        @TestFactory
        Stream<DynamicTest> factory() {
            return abort("no test data at vectors");
        }

        @TestFactory
        Stream<DynamicTest> lazyFactory() {
            return Stream.of(1, 2)
                    .map(i -> i == 1 ? dynamicTest("first", () -> {}) : abort("no test data for the second"));
        }

        @TestFactory
        @Disabled("no factory today")
        Stream<DynamicTest> disabledFactory() {
            return Stream.empty();
        }

        @ParameterizedTest
        @MethodSource("absent")
        void provided(int argument) {}

        static Stream<Integer> absent() {
            return abort("no arguments");
        }
    }

    static class SkippedBeforeAll {
        @BeforeAll
        static void before() {
            abort("no machine");
        }

        @Test
        void never() {}
    }

    @Disabled("all of it")
    static class DisabledClass {
        @Test
        void never() {}
    }

    static class Failing {
        @Test
        void test() {
            fail("expected  another\nthing");
        }

        @TestFactory
        Stream<DynamicTest> factory() {
            return fail("no vectors can be made");
        }

        @ParameterizedTest
        @ValueSource(strings = "a")
        void argument(String argument) {
            fail();
        }
    }

    private void run(Class<?>... classes) {
        OpenTestReportGeneratingListener listener = new OpenTestReportGeneratingListener();
        LauncherConfig alone = LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .addTestExecutionListeners(listener)
                .build();
        LauncherFactory.create(alone)
                .execute(LauncherDiscoveryRequestBuilder.request()
                        .selectors(Stream.of(classes)
                                .map(each -> selectClass(each))
                                .toList())
                        .configurationParameter("junit.platform.reporting.open.xml.enabled", "true")
                        .configurationParameter(
                                "junit.platform.reporting.output.dir",
                                folder.resolve("open-{uniqueNumber}").toString())
                        .build());
    }

    private ScriptRun summary() throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                FakeCheckout.projectRoot().resolve(".ci/TestSummary.java").toString(),
                folder.toString());
        Path files = Files.createDirectories(folder.resolve("files"));
        return RunningScript.start(files, Map.of(), command).finish();
    }

    @Test
    void everyTestThatRanIsCounted() throws Exception {
        run(Passing.class);
        assertThat(summary()).isEqualTo(new ScriptRun(0, "\n6 passed, 0 failed, 0 skipped\n", ""));
    }

    @Test
    void whateverIsSkippedIsCountedAndNamedWithItsReason() throws Exception {
        run(Passing.class, Skipping.class, SkippedBeforeAll.class, DisabledClass.class);
        assertThat(summary()).isEqualTo(new ScriptRun(0, """

                        Skipped:
                          TestSummaryTest$DisabledClass: all of it
                          TestSummaryTest$SkippedBeforeAll: no machine
                          TestSummaryTest$Skipping.disabled: not today
                          TestSummaryTest$Skipping.disabledFactory: no factory today
                          TestSummaryTest$Skipping.factory: no test data at vectors
                          TestSummaryTest$Skipping.lazyFactory: no test data for the second
                          TestSummaryTest$Skipping.provided: no arguments
                          TestSummaryTest$Skipping.some [2] argument = 2: two is too many
                          TestSummaryTest$Skipping.test: no device

                        8 passed, 0 failed, 9 skipped
                        """, ""));
    }

    @Test
    void failuresAreNamedAndFail() throws Exception {
        run(Passing.class);
        run(Failing.class);
        assertThat(summary()).isEqualTo(new ScriptRun(1, """

                        Failed:
                          TestSummaryTest$Failing.argument [1] argument = "a": no message
                          TestSummaryTest$Failing.factory: no vectors can be made
                          TestSummaryTest$Failing.test: expected another thing

                        6 passed, 3 failed, 0 skipped
                        """, ""));
    }

    @Test
    void reportThatBreaksOffIsAFailure() throws Exception {
        run(Passing.class);
        try (Stream<Path> reports = Files.find(folder, 2, (path, _) -> path.endsWith("open-test-report.xml"))) {
            Path report = reports.findFirst().orElseThrow();
            String whole = Files.readString(report);
            Files.writeString(report, whole.substring(0, whole.length() / 2));
        }
        ScriptRun run = summary();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).contains("not a whole report: ", "0 passed, 1 failed, 0 skipped\n");
    }

    @Test
    void folderWithoutAReportIsAFailure() throws Exception {
        assertThat(summary().out())
                .contains(
                        folder + ": no open-test-report.xml: JUnit's reports are off",
                        "0 passed, 1 failed, 0 skipped\n");
    }
}
