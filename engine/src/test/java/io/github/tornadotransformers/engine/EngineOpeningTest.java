package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.llama.LlamaFamily;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineOpeningTest {
    private static final EngineSettings HOST = EngineSettings.of(EngineKind.HOST);

    private final ModelSource large =
            new RandomModel(new LlamaFamily().published().get("stories15M"), 1);

    @Test
    void aLargeModelsLoopsAreCompiledUntilItIsClosed() throws InterruptedException {
        try (EngineOpening _ = EngineOpening.of(large, HOST)) {
            assertThat(isWarming()).isTrue();
        }
        awaitQuiet();
    }

    @Test
    void aModelThatCannotBeOpenedLeavesNothingBehind() throws InterruptedException {
        assertThatThrownBy(() -> Engines.openQuickly(large, HOST.withContext(1 << 20)))
                .isInstanceOf(InvalidRequest.class);
        awaitQuiet();
    }

    @Test
    void theSessionOutlivesTheOpening() {
        ModelSource small = new RandomModel(TestCheckpoints.gpt2(), 1);
        EngineSession session;
        try (EngineOpening opening = EngineOpening.of(small, HOST)) {
            session = opening.open();
            assertThatThrownBy(opening::open).isInstanceOf(IllegalStateException.class);
        }
        try (session;
                EngineSession scalar = Engines.open(small, EngineSettings.of(EngineKind.SCALAR))) {
            int[] prompt = {1, 2, 3};
            assertThat(session.forward().forward(prompt, 0))
                    .isEqualTo(scalar.forward().forward(prompt, 0));
        }
    }

    @Test
    void anotherModelsEngineIsRefused(@TempDir Path folder) {
        ModelFolder model = ModelFolder.open(
                TestCheckpoints.write(folder, TestCheckpoints.gpt2(), 1).path());
        try (EngineOpening opening = EngineOpening.of(new RandomModel(TestCheckpoints.gpt2(), 1), HOST)) {
            assertThatThrownBy(() -> model.load(opening)).hasMessage("the engine is opened for another model");
        }
    }

    private static void awaitQuiet() throws InterruptedException {
        for (int i = 0; i < 1000 && isWarming(); i++) {
            Thread.sleep(10);
        }
        assertThat(isWarming()).isFalse();
    }

    private static boolean isWarming() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("warming"));
    }
}
