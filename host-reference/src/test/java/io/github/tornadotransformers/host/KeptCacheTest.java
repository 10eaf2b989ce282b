package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys and values from file to file: what another process has run need not be run again, and nothing else is ever taken. */
class KeptCacheTest {
    private static final int CONTEXT = 400;
    private static final String KEY = "{\"model\":\"this\"}";

    @TempDir
    Path folder;

    private final RandomData data = new RandomData(4);
    private final Program program = RandomConfigs.of(data, CONTEXT).program(CONTEXT);
    private final Weights weights = RandomModels.weights(program, DType.F32, data);
    private final int[] prompt = data.ints(300, program.vocabSize());

    private HostInterpreter engine(KvType type, int pages) {
        return new HostInterpreter(
                program, weights, new VectorOps(1), type, pages * HostInterpreter.cacheBytes(program, type, 1));
    }

    private GenerationResult generated(HostInterpreter engine, int[] ids) {
        Generation generation = new Generation(
                ids,
                CONTEXT,
                new Sampler(SamplingOptions.GREEDY, program.vocabSize()),
                Optional.empty(),
                GenerationOptions.ofTokens(20),
                Optional.empty(),
                GenerationListener.NONE);
        try (Scheduler scheduler = new Scheduler(engine, SchedulerLimits.ofRunning(1))) {
            scheduler.add(generation);
            scheduler.run();
        }
        return generation.result();
    }

    /** Made of two texts that begin alike. */
    private Path saved(KvType type) throws IOException {
        Path file = folder.resolve("kept");
        int[] other = prompt.clone();
        other[200] = (other[200] + 1) % program.vocabSize();
        try (HostInterpreter engine = engine(type, 9)) {
            generated(engine, prompt);
            generated(engine, other);
            engine.saveKept(file, KEY);
        }
        return file;
    }

    @ParameterizedTest
    @EnumSource(KvType.class)
    void whatAnotherProcessHasRunIsNotRunAgain(KvType type) throws IOException {
        Path file = saved(type);
        try (HostInterpreter before = engine(type, 9);
                HostInterpreter after = engine(type, 9)) {
            assertThat(after.loadKept(file, KEY)).isEmpty();
            GenerationResult fresh = generated(before, prompt);
            GenerationResult kept = generated(after, prompt);
            assertThat(kept.ids()).isEqualTo(fresh.ids());
            assertThat(kept.reusedTokens()).isEqualTo(299);
            assertThat(kept.prefillTokens()).isEqualTo(1);
        }
    }

    @Test
    void whatIsSavedAgainIsTheSameFile() throws IOException {
        Path file = saved(KvType.F32);
        Path again = folder.resolve("again");
        try (HostInterpreter engine = engine(KvType.F32, 9)) {
            assertThat(engine.loadKept(file, KEY)).isEmpty();
            engine.saveKept(again, KEY);
        }
        assertThat(again).hasSameBinaryContentAs(file);
    }

    @Test
    void asMuchIsTakenAsThereIsMemory() throws IOException {
        Path file = saved(KvType.F32);
        try (HostInterpreter engine = engine(KvType.F32, 4)) {
            assertThat(engine.loadKept(file, KEY)).isEmpty();
            GenerationResult result = generated(engine, Arrays.copyOf(prompt, 150));
            assertThat(result.reusedTokens()).isBetween(128, 149);
            SchedulerTest.assertEverythingWasGivenBack(engine, 4);
        }
    }

    @Test
    void withoutAFileNothingIsKept() {
        try (HostInterpreter engine = engine(KvType.F32, 4)) {
            assertThat(engine.loadKept(folder.resolve("none"), KEY)).isEmpty();
        }
    }

    private void refused(Path file, KvType type, String key, String reason) {
        try (HostInterpreter engine = engine(type, 9)) {
            assertThat(engine.loadKept(file, key)).contains(file + " " + reason + ": it is made anew");
            SchedulerTest.assertEverythingWasGivenBack(engine, 9);
        }
    }

    @Test
    void filesOfOthersAreLeftOut() throws IOException {
        Path file = saved(KvType.F32);
        refused(file, KvType.F32, "{\"model\":\"that\"}", "is of another model, or of other types");
        refused(file, KvType.BF16, KEY, "is of another model, or of other types");
        Files.writeString(file, "something else altogether");
        refused(file, KvType.F32, KEY, "is no file of kept keys and values");
        Files.writeString(file, "");
        refused(file, KvType.F32, KEY, "is no file of kept keys and values");
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 60, 100, 1000, -1, -5000})
    void damagedFilesAreNoticed(int place) throws IOException {
        Path file = saved(KvType.F32);
        byte[] bytes = Files.readAllBytes(file);
        int at = place < 0 ? bytes.length + place : place;
        bytes[at] ^= 4;
        Files.write(file, bytes);
        try (HostInterpreter engine = engine(KvType.F32, 9)) {
            assertThat(engine.loadKept(file, KEY).orElseThrow()).contains("is damaged");
            assertThat(generated(engine, prompt).ids()).isEqualTo(alone());
        }
    }

    private int[] alone() {
        try (HostInterpreter engine = engine(KvType.F32, 9)) {
            return generated(engine, prompt).ids();
        }
    }

    @Test
    void aFileThatWasCutOffIsNoticed() throws IOException {
        Path file = saved(KvType.F32);
        byte[] bytes = Files.readAllBytes(file);
        for (int length : new int[] {bytes.length - 1, bytes.length / 2, 30}) {
            Files.write(file, Arrays.copyOf(bytes, length));
            try (HostInterpreter engine = engine(KvType.F32, 9)) {
                assertThat(engine.loadKept(file, KEY).orElseThrow()).containsAnyOf("is cut off", "is damaged");
            }
        }
    }
}
