package io.github.tornadotransformers.server;

import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.Sequence;
import io.github.tornadotransformers.models.generation.Step;
import io.github.tornadotransformers.models.generation.StopReason;
import java.util.Optional;

/** A sequence whose end somebody waits for. */
final class Watched implements Sequence {
    private final Sequence sequence;
    private final Runnable ended;
    private boolean hasEnded;

    /** @param ended is run once, in the thread that runs the sequence, when it has ended or failed */
    Watched(Sequence sequence, Runnable ended) {
        this.sequence = sequence;
        this.ended = ended;
    }

    @Override
    public int positions() {
        return sequence.positions();
    }

    @Override
    public Step next(int mostGuesses) {
        return sequence.next(mostGuesses);
    }

    @Override
    public Optional<StopReason> accept(float[] logits, int offset) {
        return sequence.accept(logits, offset);
    }

    @Override
    public int candidates() {
        return sequence.candidates();
    }

    @Override
    public Optional<StopReason> acceptCandidates(Candidates found) {
        return sequence.acceptCandidates(found);
    }

    @Override
    public boolean isCancelled() {
        return sequence.isCancelled();
    }

    @Override
    public void advanced(int tokens) {
        sequence.advanced(tokens);
    }

    @Override
    public void reused(int tokens) {
        sequence.reused(tokens);
    }

    @Override
    public void ended(StopReason reason) {
        if (!hasEnded) {
            sequence.ended(reason);
            hasEnded = true;
            ended.run();
        }
    }

    @Override
    public void failed(RuntimeException failure) {
        if (!hasEnded) {
            hasEnded = true;
            sequence.failed(failure);
            ended.run();
        }
    }
}
