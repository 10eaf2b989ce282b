package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.testsupport.Fuzzing;
import io.github.tornadotransformers.testsupport.JsonMutator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever the state of a run holds: the run goes on from what it says, or it is refused in words. */
class TrainingFuzzTest {
    private static final String STATE = "training-state.safetensors";
    private static final String METADATA = "__metadata__";
    private static final String TRAINING = "training_losses";
    private static final String VALIDATION = "validation_losses";
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    private Path folder;

    @Test
    void aStateIsResumedOrRefused() throws IOException {
        TinyTraining tiny = new TinyTraining(folder);
        ModelConfig config = TinyTraining.gpt2();
        TrainingSettings settings = TinyTraining.settings(12, 0.01);
        Path sound = folder.resolve("sound");
        tiny.run(tiny.trainer(config, settings), config, sound).run(6, () -> false);
        byte[] bytes = Files.readAllBytes(sound.resolve(STATE));
        int length = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        ObjectNode header = (ObjectNode) JSON.readTree(bytes, Long.BYTES, length);
        int data = Long.BYTES + length;
        new Fuzzing("training-state", List.of(CheckpointException.class, TrainingException.class))
                .run(500, (random, run) -> {
                    String mutated = mutated(header, random);
                    Files.write(run.resolve(STATE), file(mutated, bytes, data));
                    Trainer resumed = tiny.trainer(config, settings);
                    new TrainingFolder(run).state().restore(resumed);
                    assertGoesOnFrom(JSON.readTree(mutated).path(METADATA), resumed);
                });
    }

    /** Most of what a state says stands in texts of its metadata, which are JSON themselves. */
    private static String mutated(ObjectNode header, SplittableRandom random) throws IOException {
        if (random.nextInt(4) == 0) {
            return new JsonMutator(random, List.of()).mutated(header);
        }
        ObjectNode changed = header.deepCopy();
        ObjectNode metadata = changed.withObject("/" + METADATA);
        String key = random.nextBoolean() ? VALIDATION : random.nextBoolean() ? TRAINING : "settings";
        JsonNode value = JSON.readTree(metadata.get(key).textValue());
        metadata.put(key, new JsonMutator(random, List.of()).mutated(value));
        return changed.toString();
    }

    private static byte[] file(String header, byte[] sound, int data) {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + text.length + sound.length - data)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text)
                .put(sound, data, sound.length - data)
                .array();
    }

    private static void assertGoesOnFrom(JsonNode metadata, Trainer resumed) throws IOException {
        JsonNode training = JSON.readTree(metadata.path(TRAINING).textValue());
        JsonNode validation = JSON.readTree(metadata.path(VALIDATION).textValue());
        assertThat(resumed.steps()).isEqualTo(training.size());
        assertThat(resumed.history().training()).allMatch(Double::isFinite).hasSize(training.size());
        training.forEach(
                loss -> assertThat(loss.isNumber()).as("a number: %s", loss).isTrue());
        validation.forEach(each ->
                assertThat(each.path("loss").isNumber()).as("a loss: %s", each).isTrue());
        assertThat(resumed.history().validation()).hasSize(validation.size()).allSatisfy(each -> {
            assertThat(each.step()).isBetween(1, resumed.steps());
            assertThat(each.loss()).isFinite();
        });
    }
}
