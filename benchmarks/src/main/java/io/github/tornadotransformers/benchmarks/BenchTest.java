package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.program.Program;

/**
 * What a model is timed at.
 *
 * @param tokens how many run, of each sequence
 * @param depth how many positions before them hold tokens already
 * @param sequences that generate together, each a token at a time; 1 for a prompt
 */
public record BenchTest(Phase phase, int tokens, int depth, int sequences) {
    /** Of one sequence. */
    public BenchTest(Phase phase, int tokens, int depth) {
        this(phase, tokens, depth, 1);
    }

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

    /** As llama.cpp's llama-bench names it: {@code pp512}, {@code tg128}, {@code tg128@d1000}; {@code tg128x8} of eight sequences. */
    public String name() {
        return phase.prefix + tokens + (sequences == 1 ? "" : "x" + sequences) + (depth == 0 ? "" : "@d" + depth);
    }

    /** Tokens of all sequences. */
    public long allTokens() {
        return Math.multiplyExact((long) tokens, (long) sequences);
    }

    /** Positions that it needs. */
    public int positions() {
        return Math.addExact(depth, tokens);
    }

    /** What the model must read and compute for it. */
    public ProgramCost cost(Program program, MatrixBytes matrices) {
        return switch (phase) {
            case PREFILL -> ProgramCost.prefill(program, matrices, tokens, depth);
            case DECODE -> ProgramCost.decode(program, matrices, tokens, depth, sequences);
        };
    }
}
