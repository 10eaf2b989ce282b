package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.generation.StopReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Continuous batching: runs many sequences on one engine, step by step; they join and leave between steps.
 *
 * <p>In a step each sequence that decodes runs its one token; what room is left goes to prompts, in chunks, first come first
 * served. A sequence joins when the cache has memory for all that it may ever need, in the order of arrival: nobody overtakes, and who
 * runs never waits for memory that another holds, so that every sequence ends. Who waits for memory waits until others end.
 *
 * <p>Not safe for use by several threads.
 */
public final class Scheduler implements AutoCloseable {
    private final Engine engine;
    private final SchedulerLimits limits;
    private final Deque<Sequence> waiting = new ArrayDeque<>();
    private final List<Running> running = new ArrayList<>();

    /** @param engine whose caches nobody else opens; not closed with this */
    public Scheduler(Engine engine, SchedulerLimits limits) {
        this.engine = engine;
        this.limits = limits;
    }

    /**
     * Has a sequence run with the next steps, behind those that came before.
     *
     * @throws InvalidRequest if it needs more positions than the engine's context or its memory for caches holds, or if too
     *     many wait already: try again later
     */
    public void add(Sequence sequence) {
        int context = engine.program().contextLength();
        if (sequence.positions() < 1 || sequence.positions() > context) {
            throw new InvalidRequest(
                    "a sequence of " + sequence.positions() + " positions, but the context holds " + context);
        }
        if (!engine.canHold(sequence.positions())) {
            throw new InvalidRequest("a sequence of " + sequence.positions()
                    + " positions, for which the key-value cache has too little memory even when nothing else runs");
        }
        if (waiting.size() >= limits.waiting()) {
            throw new InvalidRequest(waiting.size() + " sequences wait already: try again when some have ended");
        }
        waiting.add(sequence);
    }

    /** Sequences that have not ended. */
    public int size() {
        return waiting.size() + running.size();
    }

    /** Steps until every sequence has ended. */
    public void run() {
        while (size() > 0) {
            step();
        }
    }

    /** Lets sequences leave and join, and runs a batch of those that are there. */
    public void step() {
        dropCancelled();
        admit();
        List<Running> stepping = new ArrayList<>();
        List<Span> spans = new ArrayList<>();
        int room = limits.rows();
        for (boolean prompts : new boolean[] {false, true}) {
            for (Running each : running) {
                if (each.isPrompt() == prompts && room > 0) {
                    Span span = each.span(room);
                    room -= span.tokens().length;
                    spans.add(span);
                    stepping.add(each);
                }
            }
        }
        if (!spans.isEmpty()) {
            engine.run(
                    new Batch(spans),
                    (span, _, logits, offset) -> stepping.get(span).take(logits, offset));
            for (int i = 0; i < spans.size(); i++) {
                stepping.get(i).advance(spans.get(i).tokens().length);
            }
            leave();
        }
    }

    private void dropCancelled() {
        for (Iterator<Sequence> all = waiting.iterator(); all.hasNext(); ) {
            Sequence sequence = all.next();
            if (sequence.isCancelled()) {
                all.remove();
                sequence.ended(StopReason.CANCELLED);
            }
        }
        running.forEach(Running::leaveIfCancelled);
        leave();
    }

    /** Those that have come to an end give their memory back, and are told. */
    private void leave() {
        List<Running> ended = running.stream().filter(Running::hasEnded).toList();
        running.removeAll(ended);
        ended.forEach(Running::leave);
    }

    private void admit() {
        while (!waiting.isEmpty() && running.size() < limits.running()) {
            Sequence first = waiting.getFirst();
            KvCache cache = engine.open(first.positions());
            if (!cache.reserve(first.positions())) {
                cache.close();
                return;
            }
            waiting.removeFirst();
            Running joined = new Running(first, cache);
            running.add(joined);
            joined.fetch();
        }
        leave();
    }

    /** Ends all sequences as cancelled. */
    @Override
    public void close() {
        running.forEach(each -> each.end(StopReason.CANCELLED));
        leave();
        waiting.forEach(each -> each.ended(StopReason.CANCELLED));
        waiting.clear();
    }

    /** A sequence that has joined. */
    private static final class Running {
        private final Sequence sequence;
        private final KvCache cache;
        private int[] tokens = {};
        /** How many of the tokens have been run. */
        private int done;

        private boolean decodes;
        private Optional<Runnable> farewell = Optional.empty();

        Running(Sequence sequence, KvCache cache) {
            this.sequence = sequence;
            this.cache = cache;
        }

        boolean isPrompt() {
            return !decodes;
        }

        boolean hasEnded() {
            return farewell.isPresent();
        }

        /** The next tokens, at most {@code room}; the logits of the last where none is left behind them. */
        Span span(int room) {
            int count = Math.min(room, tokens.length - done);
            boolean last = done + count == tokens.length;
            int[] chunk = Arrays.copyOfRange(tokens, done, done + count);
            return new Span(cache, cache.length(), chunk, last ? Wanted.LAST : Wanted.NONE);
        }

        void take(float[] logits, int offset) {
            guarded(() -> {
                Optional<StopReason> reason = sequence.accept(logits, offset);
                reason.ifPresent(this::end);
            });
        }

        void advance(int count) {
            done += count;
            if (!hasEnded() && done == tokens.length) {
                decodes = true;
                fetch();
            }
        }

        void fetch() {
            guarded(() -> {
                tokens = sequence.next();
                done = 0;
            });
        }

        /** What a sequence throws ends it alone. */
        private void guarded(Runnable call) {
            try {
                call.run();
            } catch (RuntimeException failure) {
                farewell = Optional.of(() -> sequence.failed(failure));
            }
        }

        void leaveIfCancelled() {
            if (sequence.isCancelled()) {
                end(StopReason.CANCELLED);
            }
        }

        void end(StopReason reason) {
            farewell = Optional.of(() -> sequence.ended(reason));
        }

        void leave() {
            cache.close();
            farewell.ifPresent(Runnable::run);
        }
    }
}
