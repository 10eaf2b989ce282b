package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Every bit of the logits of random models, as hashes: what a change of programs, Ops or loops must not move: the arithmetic
 * contract's second version. Who changes the contract pins new ones.
 */
class LogitBitsTest {
    /** A chunk of a prompt, then single tokens. */
    private static final int PROMPT = 20;

    private static final int TOKENS = 24;

    @Test
    void logitsOfGpt2Stay() {
        assertThat(hashes(TestCheckpoints.gpt2())).containsExactly(GPT2);
        assertThat(hashes(TestCheckpoints.untiedGpt2())).containsExactly(UNTIED_GPT2);
    }

    @Test
    void logitsOfLlamaStay() {
        assertThat(hashes(TestCheckpoints.llama())).containsExactly(LLAMA);
        assertThat(hashes(TestCheckpoints.biasedLlama())).containsExactly(BIASED_LLAMA);
    }

    private static final Integer[] GPT2 = {83535956, 700271802, -717023456, 118139829};
    private static final Integer[] UNTIED_GPT2 = {1648141371, -1837672957, 1639047171, -274019534};
    private static final Integer[] LLAMA = {108925840, 1287253310, -511647584, -305553524};
    private static final Integer[] BIASED_LLAMA = {-857845524, 391131778, -379674224, 1218851043};

    /** Of each weight type. */
    private static List<Integer> hashes(ModelConfig config) {
        List<Integer> hashes = new ArrayList<>();
        for (DType dtype : DType.OF_MATRICES) {
            hashes.add(hash(config, dtype));
        }
        return hashes;
    }

    private static int hash(ModelConfig config, DType dtype) {
        Program program = config.program(TOKENS);
        int[] tokens =
                new SplittableRandom(5).ints(TOKENS, 0, config.vocabSize()).toArray();
        int hash = 1;
        try (Arena arena = Arena.ofShared()) {
            Weights weights =
                    new RandomModel(config, 7).load(program, dtype, new ArenaAllocator(arena, WeightLayout.ROW_MAJOR));
            try (HostForwardPass pass = new HostForwardPass(program, weights, new ScalarOps())) {
                hash = 31 * hash + bits(pass.forward(Arrays.copyOf(tokens, PROMPT), 0));
                for (int position = PROMPT; position < TOKENS; position++) {
                    hash = 31 * hash + bits(pass.forward(new int[] {tokens[position]}, position));
                }
            }
        }
        return hash;
    }

    private static int bits(float[] logits) {
        int hash = 1;
        for (float logit : logits) {
            hash = 31 * hash + Float.floatToIntBits(logit);
        }
        return hash;
    }
}
