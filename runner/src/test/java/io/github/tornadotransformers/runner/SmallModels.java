package io.github.tornadotransformers.runner;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.nio.file.Path;

/** Checkpoints of random weights with a tokenizer that fits them. */
public final class SmallModels {
    public static final int CONTEXT = 64;

    private static final long SEED = 20_260_101;

    private SmallModels() {}

    /** A GPT-2 with a byte-level tokenizer. */
    public static Path gpt2(Path folder) {
        int vocabSize = TestTokenizers.BYTE_LEVEL_VOCAB_SIZE;
        TestCheckpoints.write(
                folder, new Gpt2Config(new Sizes(vocabSize, CONTEXT, 24, 50, 2), 3, 1e-5f, true, true), SEED);
        return TestTokenizers.byteLevel(folder);
    }

    /** A Llama with a tokenizer that puts a start token in front. */
    public static Path llama(Path folder) {
        int vocabSize = TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE;
        RopeScaling unscaled = new RopeScaling.None();
        TestCheckpoints.write(
                folder,
                new LlamaConfig(
                        new Sizes(vocabSize, CONTEXT, 32, 48, 2),
                        new Heads(4, 2, 8),
                        new Rope(10_000, 8, unscaled),
                        1e-5f,
                        false,
                        false,
                        true),
                SEED);
        return TestTokenizers.byteFallback(folder);
    }

    /** A GPT-2 without a tokenizer. */
    public static Path withoutTokenizer(Path folder) {
        return TestCheckpoints.write(folder, TestCheckpoints.untiedGpt2(), SEED).path();
    }
}
