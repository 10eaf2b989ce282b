package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.TestCheckpoints;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever bytes of a checkpoint are wrong, it opens or is refused in words. */
class MutationTest {
    private static final byte[] TELLING = "{}[]\",:-0123456789.eE \\\u0000/".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    @Test
    void aMutatedHeaderOpensOrIsRefused() throws IOException {
        Path file = RawSafetensors.write(
                folder.resolve("model.safetensors"),
                "{\"__metadata__\":{\"format\":\"pt\"},"
                        + RawSafetensors.tensor("a.weight", "F32", "[2,3]", 0, 24) + ","
                        + RawSafetensors.tensor("b.bias", "BF16", "[4]", 24, 32) + ","
                        + RawSafetensors.tensor("c", "I64", "[]", 32, 40) + "}",
                40);
        byte[] valid = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(1);
        int refused = 0;
        for (int i = 0; i < 3000; i++) {
            byte[] mutated = mutated(valid, valid.length - 40, random);
            replace(file, mutated);
            refused += opens(file, mutated) ? 0 : 1;
        }
        assertThat(refused).isBetween(1500, 2999);
    }

    private static boolean opens(Path file, byte[] mutated) {
        try {
            SafetensorsFile.open(file)
                    .tensors()
                    .values()
                    .forEach(tensor ->
                            assertThat(tensor.offset() + tensor.bytes()).isLessThanOrEqualTo(mutated.length));
            return true;
        } catch (CheckpointException e) {
            assertThat(e.getMessage()).startsWith(file.toString()).doesNotContainPattern("\\p{Cntrl}");
            return false;
        } catch (RuntimeException e) {
            throw new AssertionError("of " + new String(mutated, StandardCharsets.ISO_8859_1), e);
        }
    }

    @ParameterizedTest
    @CsvSource({"config.json, 1000", "generation_config.json, 300", "model.safetensors.index.json, 300"})
    void aMutatedJsonFileOpensOrIsRefused(String name, int mutations) throws IOException {
        RandomCheckpoint.writeSharded(folder, TestCheckpoints.llama(), 1, StoredType.BF16, 2);
        Files.writeString(folder.resolve("generation_config.json"), "{\"eos_token_id\": [1, 2], \"bos_token_id\": 3}");
        Path file = folder.resolve(name);
        byte[] valid = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(2);
        int refused = 0;
        for (int i = 0; i < mutations; i++) {
            byte[] mutated = mutated(valid, valid.length, random);
            replace(file, mutated);
            try {
                Checkpoint.open(folder);
            } catch (CheckpointException e) {
                refused++;
            } catch (RuntimeException e) {
                throw new AssertionError("of " + new String(mutated, StandardCharsets.ISO_8859_1), e);
            }
        }
        assertThat(refused).isBetween(mutations / 4, mutations - 1);
    }

    /** A new file: overwriting one makes some file systems wait for the disk every time. */
    private static void replace(Path file, byte[] bytes) throws IOException {
        Files.delete(file);
        Files.write(file, bytes);
    }

    /** One to three bytes changed, removed or doubled, among the first {@code range}. */
    private static byte[] mutated(byte[] valid, int range, SplittableRandom random) {
        byte[] mutated = valid.clone();
        for (int change = random.nextInt(1, 4); change > 0; change--) {
            int place = random.nextInt(Math.min(range, mutated.length));
            switch (random.nextInt(6)) {
                case 0 -> mutated[place] = (byte) random.nextInt();
                case 1 -> mutated[place] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                case 2 -> mutated = Arrays.copyOf(mutated, Math.max(1, random.nextInt(mutated.length + 9)));
                case 3 -> mutated = doubled(mutated, place, random.nextInt(1, 9));
                default -> mutated[place] = TELLING[random.nextInt(TELLING.length)];
            }
        }
        return mutated;
    }

    private static byte[] doubled(byte[] bytes, int place, int count) {
        int end = Math.min(bytes.length, place + count);
        byte[] doubled = Arrays.copyOf(bytes, bytes.length + end - place);
        System.arraycopy(bytes, place, doubled, end, bytes.length - place);
        return doubled;
    }
}
