package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import io.github.tornadotransformers.models.gguf.GgufValue;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.testsupport.Fuzzing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a GGUF file holds: it opens and describes a model and a tokenizer, or is refused in words. */
class GgufFuzzTest {
    @TempDir
    private Path sound;

    @Test
    void aGgufFileOpensOrIsRefused() throws IOException {
        Checkpoint checkpoint = TestCheckpoints.write(sound, TestCheckpoints.llama(), 3, StoredType.F16);
        Path file = sound.resolve("model.gguf");
        GgufExport.write(file, checkpoint, GgufTensorType.Q8_0, tokens());
        byte[] bytes = Files.readAllBytes(file);
        int header = Math.toIntExact(Checkpoint.open(file).tensor("norm.weight").offset() % bytes.length);
        new Fuzzing("gguf", List.of(CheckpointException.class)).run(1500, (random, folder) -> {
            Path mutated = Files.write(folder.resolve("model.gguf"), mutated(bytes, header, random));
            if (random.nextInt(3) == 0 && Tokenizer.existsIn(mutated)) {
                Tokenizer.load(mutated).encode("hello world");
            }
            Checkpoint.open(mutated).config().program(1);
        });
    }

    private static SequencedMap<String, GgufValue> tokens() {
        SequencedMap<String, GgufValue> tokens = new LinkedHashMap<>();
        List<String> texts = IntStream.range(0, 139)
                .mapToObj(id -> id < 100 ? "t" + id : Character.toString(id))
                .toList();
        tokens.put(GgufTokens.MODEL, new GgufValue.Text("gpt2"));
        tokens.put(GgufTokens.PRE, new GgufValue.Text("llama-bpe"));
        tokens.put(GgufTokens.TOKENS, new GgufValue.Texts(texts));
        tokens.put(
                GgufTokens.TYPES,
                new GgufValue.Numbers(
                        texts.stream()
                                .map(text -> text.equals("t3") ? 3.0 : 1.0)
                                .toList(),
                        true));
        tokens.put(GgufTokens.MERGES, new GgufValue.Texts(List.of("d e", "de f")));
        tokens.put(GgufTokens.EOS, new GgufValue.Whole(3));
        return tokens;
    }

    /** Bytes of the header changed, numbers among them, or the end cut off. */
    private static byte[] mutated(byte[] bytes, int header, SplittableRandom random) {
        byte[] mutated = random.nextInt(8) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes.clone();
        ByteBuffer buffer = ByteBuffer.wrap(mutated).order(ByteOrder.LITTLE_ENDIAN);
        for (int change = random.nextInt(3); change >= 0 && mutated.length > Long.BYTES; change--) {
            int at = random.nextInt(Math.min(header, mutated.length) - Long.BYTES + 1);
            switch (random.nextInt(4)) {
                case 0 -> buffer.put(at, (byte) random.nextInt());
                case 1 -> buffer.put(at, (byte) (buffer.get(at) ^ 1 << random.nextInt(8)));
                case 2 -> buffer.putInt(at, random.nextInt() >>> random.nextInt(32));
                default -> buffer.putLong(at, random.nextLong() >>> random.nextInt(64));
            }
        }
        return mutated;
    }
}
