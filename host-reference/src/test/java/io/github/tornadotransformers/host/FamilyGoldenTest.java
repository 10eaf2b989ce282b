package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.testsupport.FamilyGolden;
import io.github.tornadotransformers.testsupport.FamilyGolden.Layout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every family against Hugging Face's transformers, on checkpoints that it saved; see {@link FamilyGolden}. */
class FamilyGoldenTest {
    @TempDir
    private Path folder;

    static Stream<String> families() {
        return ModelFamilies.all().stream().map(ModelFamily::modelType);
    }

    static Stream<FamilyGolden> goldens() {
        return families().flatMap(modelType -> FamilyGolden.of(modelType).stream());
    }

    static Stream<Arguments> layouts() {
        return goldens().flatMap(golden -> Stream.of(Layout.values()).map(layout -> Arguments.of(golden, layout)));
    }

    @ParameterizedTest
    @MethodSource("families")
    void everyFamilyHasGoldens(String modelType) {
        assertThat(FamilyGolden.of(modelType)).hasSizeGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("layouts")
    void idsAndLogitsAreThoseOfTransformers(FamilyGolden golden, Layout layout) {
        new FamilyGoldenCheck(golden, layout, folder).idsAndLogits();
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void everyEngineGivesTheSameBits(FamilyGolden golden) {
        new FamilyGoldenCheck(golden, Layout.TODAYS, folder).everyEngineGivesTheSameBits();
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("layouts")
    void theFloat64ModelAgreesWithTransformers(FamilyGolden golden, Layout layout) {
        new FamilyGoldenCheck(golden, layout, folder).float64ModelAgrees();
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void bothLayoutsAreTheSameConfig(FamilyGolden golden) throws Exception {
        Path older = Files.createDirectory(folder.resolve("older"));
        golden.write(folder, Layout.TODAYS);
        golden.write(older, Layout.OLDER);
        assertThat(Checkpoint.open(older).config())
                .isEqualTo(Checkpoint.open(folder).config());
    }
}
