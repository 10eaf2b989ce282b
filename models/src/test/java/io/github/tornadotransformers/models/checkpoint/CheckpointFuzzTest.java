package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.testsupport.Fuzzing;
import io.github.tornadotransformers.testsupport.JsonMutator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a checkpoint's files hold: it opens and describes a program, or is refused in words. */
class CheckpointFuzzTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String INDEX = "model.safetensors.index.json";
    private static final int DATA_BYTES = 48;

    @TempDir
    private Path sound;

    @Test
    void aHeaderOpensOrIsRefused() throws IOException {
        JsonNode header = JSON.readTree("{\"__metadata__\":{\"format\":\"pt\"},"
                + RawSafetensors.tensor("a.weight", "F32", "[2,3]", 0, 24) + ","
                + RawSafetensors.tensor("b.bias", "BF16", "[4]", 24, 32) + ","
                + RawSafetensors.tensor("empty", "F16", "[0,7]", 32, 32) + ","
                + RawSafetensors.tensor("c", "I64", "[]", 32, 40) + ","
                + RawSafetensors.tensor("d", "U8", "[2,2,2]", 40, 48) + "}");
        List<JsonNode> parts = List.of(header.get("a.weight"), header.get("c"));
        new Fuzzing("safetensors-header", List.of(CheckpointException.class)).run(2000, (random, folder) -> {
            byte[] mutated = new JsonMutator(random, parts).mutated(header).getBytes(StandardCharsets.UTF_8);
            long stated = random.nextInt(30) == 0 ? random.nextLong() >>> random.nextInt(64) : mutated.length;
            int data = random.nextInt(10) == 0 ? random.nextInt(2 * DATA_BYTES) : DATA_BYTES;
            byte[] bytes = RawSafetensors.bytes(stated, mutated, data);
            Path file = RawSafetensors.writeBytes(folder.resolve(Checkpoint.SINGLE_FILE), bytes);
            SafetensorsFile.open(file)
                    .tensors()
                    .values()
                    .forEach(tensor ->
                            assertThat(tensor.offset() + tensor.bytes()).isBetween(0L, (long) bytes.length));
        });
    }

    @Test
    void anIndexOpensOrIsRefused() throws IOException {
        RandomCheckpoint.writeSharded(sound, TestCheckpoints.llama(), 1, StoredType.BF16, 2);
        openMutated("safetensors-index", INDEX, 500);
    }

    @Test
    void aGpt2ConfigOpensOrIsRefused() throws IOException {
        RandomCheckpoint.write(sound, TestCheckpoints.gpt2(), 1, StoredType.F32);
        openMutated("gpt2-config", Checkpoint.CONFIG, 700);
    }

    @Test
    void aLlamaConfigOpensOrIsRefused() throws IOException {
        RandomCheckpoint.write(sound, TestCheckpoints.llama(), 1, StoredType.F16);
        openMutated("llama-config", Checkpoint.CONFIG, 700);
    }

    @Test
    void aGenerationConfigOpensOrIsRefused() throws IOException {
        RandomCheckpoint.write(sound, TestCheckpoints.gpt2(), 1, StoredType.F32);
        Files.writeString(
                sound.resolve("generation_config.json"),
                "{\"eos_token_id\": [1, 2], \"bos_token_id\": 3, \"temperature\": 0.6, \"transformers_version\": \"5.0\"}");
        openMutated("generation-config", "generation_config.json", 300);
    }

    private void openMutated(String name, String file, int few) throws IOException {
        ObjectNode json = (ObjectNode) JSON.readTree(sound.resolve(file).toFile());
        List<JsonNode> parts = List.of(json);
        new Fuzzing(name, List.of(CheckpointException.class)).run(few, (random, folder) -> {
            linkOthers(file, folder);
            Files.writeString(folder.resolve(file), new JsonMutator(random, parts).mutated(json));
            use(folder, random);
        });
    }

    /** The weights are the same each time. */
    private void linkOthers(String file, Path folder) throws IOException {
        try (Stream<Path> files = Files.list(sound)) {
            for (Path each : files.toList()) {
                if (!each.endsWith(file)) {
                    Files.createLink(folder.resolve(each.getFileName()), each);
                }
            }
        }
    }

    private static void use(Path folder, SplittableRandom random) {
        Checkpoint checkpoint = Checkpoint.open(folder);
        ModelConfig config = checkpoint.config();
        int context = 1 + random.nextInt(Math.min(config.contextLength(), 64));
        assertThat(config.program(context).weights()).isNotEmpty();
        assertThat(config.vocabSize()).isPositive();
        checkpoint.endTokens().forEach(id -> assertThat(id).isNotNegative());
    }
}
