package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.testsupport.FamilyGolden;
import io.github.tornadotransformers.testsupport.FamilyGolden.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * As {@link FamilyGoldenTest}, but transformers is asked now, with other weights and prompts: {@code -Dpython=…} is a Python that
 * has it, {@code -Dgolden.seed=…} chooses the weights.
 */
class FreshFamilyGoldensTest {
    private static final String SCRIPT = "models/src/test/python/make_family_goldens.py";

    @TempDir
    private static Path goldens;

    @TempDir
    private Path folder;

    @BeforeAll
    static void askTransformers() throws Exception {
        String python = System.getProperty("python", "python3");
        assumeTrue(
                run(goldens.resolve("probe.log"), python, "-c", "import transformers, torch"),
                python + " is not there, or has no transformers and torch (-Dpython=…)");
        Path log = goldens.resolve("goldens.log");
        String seed = System.getProperty("golden.seed", "2");
        boolean made = run(log, python, script().toString(), goldens.toString(), "--seed", seed);
        assertThat(made).as(() -> text(log)).isTrue();
    }

    private static boolean run(Path log, String... command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            boolean ended = process.waitFor(10, TimeUnit.MINUTES);
            process.destroyForcibly();
            return ended && process.exitValue() == 0;
        } catch (IOException notThere) {
            return false;
        }
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static Path script() {
        Path candidate = Path.of("").toAbsolutePath();
        while (!Files.exists(candidate.resolve(SCRIPT))) {
            candidate = candidate.getParent();
        }
        return candidate.resolve(SCRIPT);
    }

    static Stream<FamilyGolden> goldens() {
        return ModelFamilies.all().stream()
                .map(ModelFamily::modelType)
                .flatMap(each -> FamilyGolden.read(goldens.resolve(each + ".json")).stream());
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void idsLogitsAndBitsAreThoseOfTransformers(FamilyGolden golden) {
        FamilyGoldenCheck check = new FamilyGoldenCheck(golden, Layout.TODAYS, folder);
        check.idsAndLogits();
        check.everyEngineGivesTheSameBits();
        check.float64ModelAgrees();
    }
}
