package io.github.tornadotransformers.models.generation;

import java.util.Arrays;
import java.util.Optional;

/** Runs {@link Sequence}s on a forward pass, one after the other. Not safe for use by several threads. */
public final class Generator {
    /** Bounds an engine's activations. */
    public static final int DEFAULT_CHUNK = 512;

    private final ForwardPass forward;
    private final int chunk;
    private final boolean reuses;
    /** What lies in the forward pass's cache, from its first position. */
    private int[] held = {};

    public Generator(ForwardPass forward) {
        this(forward, DEFAULT_CHUNK);
    }

    /** @param chunk how many positions one call of the forward pass runs at most, 1 or more; no result depends on it */
    public Generator(ForwardPass forward, int chunk) {
        this(forward, chunk, false);
    }

    private Generator(ForwardPass forward, int chunk, boolean reuses) {
        if (chunk < 1) {
            throw new IllegalArgumentException("chunks of " + chunk + " positions, expected 1 or more");
        }
        this.forward = forward;
        this.chunk = chunk;
        this.reuses = reuses;
    }

    /**
     * A generator that does not run again what the sequence before has run, as far as the two begin alike. For sequences that use the cache.
     *
     * @param forward that nobody else runs, or {@link #forget} is called after
     */
    public static Generator reusing(ForwardPass forward) {
        return new Generator(forward, DEFAULT_CHUNK, true);
    }

    /** Has the next sequence run as a whole. */
    public void forget() {
        held = new int[0];
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
        int from = reuses ? reused(step) : 0;
        if (from > 0) {
            sequence.reused(from);
        }
        while (from < tokens.length && reason.isEmpty()) {
            if (sequence.isCancelled()) {
                return Optional.of(StopReason.CANCELLED);
            }
            int to = Math.min(from + chunk, tokens.length);
            int[] piece = Arrays.copyOfRange(tokens, from, to);
            voidFrom(step.firstPosition() + from);
            int unwanted = Math.max(0, tokens.length - step.wanted() - from);
            reason = step.guesses() == 0
                    ? runLast(sequence, piece, step.firstPosition() + from, to == tokens.length)
                    : runAll(sequence, piece, step.firstPosition() + from, unwanted);
            hold(piece, step.firstPosition() + from);
            from = to;
        }
        return reason;
    }

    /** How many of a sequence's first tokens lie in the cache; at least those whose logits are wanted run. */
    private int reused(Step step) {
        if (step.firstPosition() > 0) {
            return 0;
        }
        int most = Math.min(held.length, step.tokens().length - step.wanted());
        int different = Arrays.mismatch(held, 0, most, step.tokens(), 0, most);
        return different < 0 ? most : different;
    }

    /** Should the forward pass fail, nobody knows what is there. */
    private void voidFrom(int position) {
        if (position < held.length) {
            held = Arrays.copyOf(held, position);
        }
    }

    private void hold(int[] tokens, int position) {
        if (reuses) {
            held = Arrays.copyOf(held, position + tokens.length);
            System.arraycopy(tokens, 0, held, position, tokens.length);
        }
    }

    private Optional<StopReason> runLast(Sequence sequence, int[] tokens, int position, boolean isWanted) {
        int candidates = isWanted ? sequence.candidates() : 0;
        if (candidates > 0) {
            LastToken last = new LastToken(sequence, tokens.length);
            forward.forward(tokens, position, candidates, last);
            return last.reason;
        }
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

    /** Hands on what there is of the last of some tokens. */
    private static final class LastToken implements ForwardPass.LogitsSink {
        private final Sequence sequence;
        private final int tokens;
        private Optional<StopReason> reason = Optional.empty();

        LastToken(Sequence sequence, int tokens) {
            this.sequence = sequence;
            this.tokens = tokens;
        }

        @Override
        public void accept(int position, float[] logits, int offset) {
            sequence.advanced(tokens);
            reason = sequence.accept(logits, offset);
        }

        @Override
        public void acceptCandidates(int position, Candidates found) {
            sequence.advanced(tokens);
            reason = sequence.acceptCandidates(found);
        }
    }

    private static final class End {
        private Optional<StopReason> reason = Optional.empty();
    }
}
