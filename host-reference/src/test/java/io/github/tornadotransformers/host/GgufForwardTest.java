package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.GgufExport;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.testsupport.Bits;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole models out of GGUF files: the same logits as of a folder, and quantized the same on both interpreters. */
class GgufForwardTest {
    private static final int[] PROMPT = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};

    @TempDir
    Path folder;

    /** Some matrices have rows of whole blocks, others, of 80 inputs, have not. */
    static Stream<Arguments> models() {
        Rope rope = new Rope(10_000, 32, new RopeScaling.None());
        return Stream.of(
                        new LlamaConfig(
                                new Sizes(97, 64, 64, 96, 3), new Heads(2, 1, 32), rope, 1e-5f, true, false, true),
                        new LlamaConfig(
                                new Sizes(61, 64, 256, 80, 2), new Heads(4, 4, 32), rope, 1e-5f, false, false, false),
                        new Gpt2Config(new Sizes(77, 64, 64, 160, 2), 2, 1e-5f, true, true))
                .flatMap(config -> Stream.of(
                                GgufTensorType.F32,
                                GgufTensorType.F16,
                                GgufTensorType.BF16,
                                GgufTensorType.Q8_0,
                                GgufTensorType.Q4_0)
                        .map(type -> Arguments.arguments(config, type)));
    }

    @ParameterizedTest
    @MethodSource("models")
    void bothInterpretersGiveTheSameLogits(ModelConfig config, GgufTensorType type) throws IOException {
        Checkpoint checkpoint = TestCheckpoints.write(folder, config, 11);
        Path file = folder.resolve("model.gguf");
        GgufExport.write(file, checkpoint, type, new LinkedHashMap<>());
        Checkpoint read = Checkpoint.open(file);

        float[][] scalar = logits(read, read.storedDType(), new ScalarOps());
        float[][] vector = logits(read, read.storedDType(), new VectorOps(2));
        float[][] widened = logits(read, DType.F32, new VectorOps(2));
        float[][] original = logits(checkpoint, DType.F32, new VectorOps(2));
        for (int step = 0; step < scalar.length; step++) {
            Bits.assertSame("step " + step, vector[step], scalar[step]);
            for (int i = 0; i < scalar[step].length; i++) {
                assertThat(scalar[step][i]).isCloseTo(widened[step][i], Offset.offset(1e-3f));
            }
            if (type == GgufTensorType.F32) {
                Bits.assertSame("the folder's", vector[step], original[step]);
            }
        }
    }

    /** Of the prompt's end, and of two tokens more. */
    private static float[][] logits(Checkpoint checkpoint, DType dtype, HostOps ops) {
        Program program = checkpoint.config().program(32);
        try (Arena arena = Arena.ofShared()) {
            ArenaAllocator memory = new ArenaAllocator(arena, WeightLayout.PANELS);
            try (HostForwardPass pass = new HostForwardPass(program, checkpoint.load(program, dtype, memory), ops)) {
                return new float[][] {
                    pass.forward(PROMPT, 0).clone(),
                    pass.forward(new int[] {7}, PROMPT.length).clone(),
                    pass.forward(new int[] {8}, PROMPT.length + 1).clone()
                };
            }
        }
    }
}
