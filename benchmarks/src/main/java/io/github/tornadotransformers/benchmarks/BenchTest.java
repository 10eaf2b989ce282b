package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Program;

/**
 * What a model is timed at.
 *
 * @param tokens how many run
 * @param depth how many positions before them hold tokens already
 */
public record BenchTest(Phase phase, int tokens, int depth) {
    /** How tokens run. */
    public enum Phase {
        /** A prompt: all tokens are known. */
        PREFILL("pp"),

        /** Generation: one token after the other. */
        DECODE("tg");

        private final String prefix;

        Phase(String prefix) {
            this.prefix = prefix;
        }
    }

    /** As llama.cpp's llama-bench names it: {@code pp512}, {@code tg128}, {@code tg128@d1000}. */
    public String name() {
        return phase.prefix + tokens + (depth == 0 ? "" : "@d" + depth);
    }

    /** Positions that it needs. */
    public int positions() {
        return Math.addExact(depth, tokens);
    }

    /** What the model must read and compute for it. */
    public ProgramCost cost(Program program, DType dtype) {
        return switch (phase) {
            case PREFILL -> ProgramCost.prefill(program, dtype, tokens, depth);
            case DECODE -> ProgramCost.decode(program, dtype, tokens, depth);
        };
    }
}
