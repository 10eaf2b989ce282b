package io.github.tornadotransformers.models.generation;

import java.util.Arrays;
import java.util.Optional;

/** Runs {@link Sequence}s on a forward pass, one after the other. Not safe for use by several threads. */
public final class Generator {
    /** Bounds an engine's activations. */
    public static final int DEFAULT_CHUNK = 512;

    private final ForwardPass forward;
    private final int chunk;

    public Generator(ForwardPass forward) {
        this(forward, DEFAULT_CHUNK);
    }

    /** @param chunk how many positions one call of the forward pass runs at most, 1 or more; no result depends on it */
    public Generator(ForwardPass forward, int chunk) {
        if (chunk < 1) {
            throw new IllegalArgumentException("chunks of " + chunk + " positions, expected 1 or more");
        }
        this.forward = forward;
        this.chunk = chunk;
    }

    /**
     * Runs a sequence to its end.
     *
     * @throws RuntimeException that the sequence or the engine has thrown
     */
    public void run(Sequence sequence) {
        Optional<StopReason> reason = Optional.empty();
        while (reason.isEmpty()) {
            reason = run(sequence, sequence.next(Integer.MAX_VALUE));
        }
        sequence.ended(reason.get());
    }

    /** As {@link #run(Sequence)}, for what it gives. */
    public GenerationResult generate(Generation generation) {
        run(generation);
        return generation.result();
    }

    private Optional<StopReason> run(Sequence sequence, Step step) {
        int[] tokens = step.tokens();
        Optional<StopReason> reason = Optional.empty();
        for (int from = 0; from < tokens.length && reason.isEmpty(); ) {
            if (sequence.isCancelled()) {
                return Optional.of(StopReason.CANCELLED);
            }
            int to = Math.min(from + chunk, tokens.length);
            int[] piece = Arrays.copyOfRange(tokens, from, to);
            int unwanted = Math.max(0, tokens.length - step.wanted() - from);
            reason = step.guesses() == 0
                    ? runLast(sequence, piece, step.firstPosition() + from, to == tokens.length)
                    : runAll(sequence, piece, step.firstPosition() + from, unwanted);
            from = to;
        }
        return reason;
    }

    private Optional<StopReason> runLast(Sequence sequence, int[] tokens, int position, boolean isWanted) {
        float[] logits = forward.forward(tokens, position);
        sequence.advanced(tokens.length);
        return isWanted ? sequence.accept(logits, 0) : Optional.empty();
    }

    private Optional<StopReason> runAll(Sequence sequence, int[] tokens, int position, int unwanted) {
        End end = new End();
        forward.forwardAll(tokens, position, (at, logits, offset) -> {
            if (at - position >= unwanted && end.reason.isEmpty()) {
                end.reason = sequence.accept(logits, offset);
            }
        });
        return end.reason;
    }

    private static final class End {
        private Optional<StopReason> reason = Optional.empty();
    }
}
