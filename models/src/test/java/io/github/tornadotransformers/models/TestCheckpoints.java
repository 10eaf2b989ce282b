package io.github.tornadotransformers.models;

import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.RandomCheckpoint;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Small checkpoints of random weights with everything unusual, for the tests of all modules. */
public final class TestCheckpoints {
    private TestCheckpoints() {}

    /** A head of 7, an MLP that is not 4 times as wide, tied. */
    public static Gpt2Config gpt2() {
        return new Gpt2Config(new Sizes(131, 37, 21, 50, 3), 3, 1e-5f, true, true);
    }

    /** As {@link #gpt2()}, but with a head of its own and scores that are not scaled. */
    public static Gpt2Config untiedGpt2() {
        return new Gpt2Config(new Sizes(97, 64, 130, 257, 2), 5, 1e-3f, false, false);
    }

    /** Six heads on two, heads wider than {@code hiddenSize / heads}, Llama 3's rope scaling, untied. */
    public static LlamaConfig llama() {
        RopeScaling scaling = new RopeScaling.Llama3(8, 1, 4, 16);
        return new LlamaConfig(
                new Sizes(139, 64, 38, 67, 3),
                new Heads(6, 2, 10),
                new Rope(500_000, 10, scaling),
                1e-6f,
                false,
                false,
                false);
    }

    /** As many key-value heads as heads, biases everywhere, linear rope scaling, tied; sums longer than a slice. */
    public static LlamaConfig biasedLlama() {
        RopeScaling scaling = new RopeScaling.Linear(2);
        return new LlamaConfig(
                new Sizes(61, 48, 132, 259, 2),
                new Heads(3, 3, 44),
                new Rope(10_000, 44, scaling),
                1e-5f,
                true,
                true,
                true);
    }

    /** Any GPT-2 of at most a few thousand parameters. */
    public static Gpt2Config randomGpt2(SplittableRandom random) {
        int heads = random.nextInt(1, 6);
        int hiddenSize = heads * random.nextInt(1, 14);
        return new Gpt2Config(
                new Sizes(
                        random.nextInt(2, 150),
                        random.nextInt(8, 40),
                        hiddenSize,
                        random.nextInt(1, 150),
                        random.nextInt(1, 4)),
                heads,
                random.nextBoolean() ? 1e-5f : 1e-2f,
                random.nextBoolean(),
                random.nextBoolean());
    }

    /** Any Llama of at most a few thousand parameters. */
    public static LlamaConfig randomLlama(SplittableRandom random) {
        int kvHeads = random.nextInt(1, 4);
        RopeScaling[] scalings = {
            new RopeScaling.None(), new RopeScaling.Linear(4), new RopeScaling.Llama3(8, 1, 4, 8192)
        };
        Sizes sizes = new Sizes(
                random.nextInt(2, 150),
                random.nextInt(8, 40),
                random.nextInt(1, 70),
                random.nextInt(1, 150),
                random.nextInt(1, 4));
        Heads heads = new Heads(kvHeads * random.nextInt(1, 4), kvHeads, 2 * random.nextInt(1, 9));
        Rope rope = new Rope(
                random.nextBoolean() ? 10_000 : 123.5, heads.headDim(), scalings[random.nextInt(scalings.length)]);
        float epsilon = random.nextBoolean() ? 1e-5f : 1e-2f;
        return new LlamaConfig(
                sizes, heads, rope, epsilon, random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
    }

    /** Writes float32 weights of a config and a seed into a folder, and opens it. */
    public static Checkpoint write(Path folder, ModelConfig config, long seed) {
        return write(folder, config, seed, StoredType.F32);
    }

    public static Checkpoint write(Path folder, ModelConfig config, long seed, StoredType type) {
        try {
            RandomCheckpoint.write(folder, config, seed, type);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Checkpoint.open(folder);
    }
}
