package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.Sequence;
import io.github.tornadotransformers.models.generation.Step;
import io.github.tornadotransformers.models.generation.StopReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Continuous batching: runs many sequences on one engine, step by step; they join and leave between steps.
 *
 * <p>In a step each sequence that decodes runs its one token, and some guesses; what room is left goes to prompts, in chunks, first
 * come first served. A sequence joins when the cache has memory for all that it may ever need, in the order of arrival: nobody
 * overtakes, and who runs never waits for memory that another holds, so that every sequence ends. Who waits for memory waits until
 * others end. What sequences have run is kept for those that begin in the same way, as long as nobody needs the memory.
 *
 * <p>Not safe for use by several threads.
 */
public final class Scheduler implements AutoCloseable {
    private static final Step NO_STEP = new Step(0, new int[0], 0);

    private final Engine engine;
    private final SchedulerLimits limits;
    private final Deque<Running> waiting = new ArrayDeque<>();
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
        waiting.add(new Running(sequence));
    }

    /** Sequences that have not ended. */
    public int size() {
        return waiting.size() + running.size();
    }

    /** Sequences that have memory, and are run. */
    public int running() {
        return running.size();
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
        for (Running each : plan()) {
            spans.add(each.span());
            stepping.add(each);
        }
        leave();
        if (!spans.isEmpty()) {
            engine.run(new Batch(spans), new Sink(stepping));
            stepping.forEach(Running::advance);
            leave();
        }
    }

    /** Hands on what an engine has found, to those that run. */
    private record Sink(List<Running> stepping) implements LogitsSink {
        @Override
        public void accept(int span, int position, float[] logits, int offset) {
            stepping.get(span).take(position, sequence -> sequence.accept(logits, offset));
        }

        @Override
        public void acceptCandidates(int span, int position, Candidates found) {
            stepping.get(span).take(position, sequence -> sequence.acceptCandidates(found));
        }
    }

    /** Who runs in this step, decoding before prompts, each with its share of the rows. */
    private List<Running> plan() {
        List<Running> decoding =
                running.stream().filter(each -> !each.isInMiddle()).toList();
        List<Running> prompts = running.stream().filter(Running::isInMiddle).toList();
        int spare = limits.rows() - decoding.size();
        int guesses = decoding.isEmpty() ? 0 : (prompts.isEmpty() ? spare : spare / 2) / decoding.size();
        List<Running> planned = new ArrayList<>();
        int room = limits.rows();
        for (Running each : decoding) {
            each.fetch(guesses);
            if (!each.hasEnded()) {
                room -= each.plan(1 + guesses);
                planned.add(each);
            }
        }
        for (Running each : prompts) {
            if (room > 0) {
                room -= each.plan(room);
                planned.add(each);
            }
        }
        return planned;
    }

    private void dropCancelled() {
        for (Iterator<Running> all = waiting.iterator(); all.hasNext(); ) {
            Running each = all.next();
            each.leaveIfCancelled();
            if (each.hasEnded()) {
                all.remove();
                each.leave();
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
            Running first = waiting.getFirst();
            if (!first.joins(engine)) {
                return;
            }
            waiting.removeFirst();
            running.add(first);
        }
        leave();
    }

    /** Ends all sequences as cancelled. */
    @Override
    public void close() {
        running.forEach(each -> each.end(StopReason.CANCELLED));
        leave();
        for (Running each : waiting) {
            each.end(StopReason.CANCELLED);
            each.leave();
        }
        waiting.clear();
    }

    /** A sequence, from its coming to its end. */
    private static final class Running {
        private final Sequence sequence;
        private Optional<KvCache> memory = Optional.empty();
        private Step step = NO_STEP;
        /** The tokens that were run, from the first position on. */
        private int[] run = {};

        private int certain;
        /** How many of the step's tokens have been run. */
        private int done;
        /** How many of them run now. */
        private int count;

        private boolean isPromptShared;
        private boolean isTold;
        private Optional<Runnable> farewell = Optional.empty();

        Running(Sequence sequence) {
            this.sequence = sequence;
        }

        /** Whether there is memory for all that it needs, of which it keeps what there is. */
        boolean joins(Engine engine) {
            if (memory.isEmpty()) {
                memory = Optional.of(engine.open(sequence.positions()));
                run = new int[sequence.positions()];
                fetch(0);
                if (!hasEnded()) {
                    done = cache().reuse(step.tokens());
                    System.arraycopy(step.tokens(), 0, run, 0, done);
                }
            }
            boolean joins = hasEnded() || cache().reserve(sequence.positions());
            if (joins && done > 0) {
                guarded(() -> sequence.reused(done));
            }
            return joins;
        }

        private KvCache cache() {
            return memory.orElseThrow();
        }

        /** Whether more of a prompt is to be run before a token is chosen. */
        boolean isInMiddle() {
            return done < step.tokens().length;
        }

        boolean hasEnded() {
            return farewell.isPresent();
        }

        void fetch(int guesses) {
            guarded(() -> {
                step = sequence.next(guesses);
                done = 0;
            });
        }

        /** Has the next tokens run, at most so many; how many these are. */
        int plan(int room) {
            count = Math.min(room, step.tokens().length - done);
            isTold = false;
            return count;
        }

        Span span() {
            int[] chunk = Arrays.copyOfRange(step.tokens(), done, done + count);
            boolean last = done + count == step.tokens().length;
            Wanted wanted = !last ? Wanted.NONE : step.guesses() == 0 ? Wanted.LAST : Wanted.ALL;
            return new Span(cache(), step.firstPosition() + done, chunk, wanted, sequence.candidates());
        }

        void take(int position, Function<Sequence, Optional<StopReason>> choice) {
            tell();
            int unwanted = step.tokens().length - step.wanted();
            if (position - step.firstPosition() >= unwanted && !hasEnded()) {
                guarded(() -> choice.apply(sequence).ifPresent(this::end));
            }
        }

        void advance() {
            tell();
            System.arraycopy(step.tokens(), done, run, step.firstPosition() + done, count);
            done += count;
            certain = step.firstPosition() + Math.min(done, step.tokens().length - step.guesses());
            if (!isInMiddle() && !isPromptShared) {
                isPromptShared = true;
                share();
            }
        }

        private void share() {
            cache().share(Arrays.copyOf(run, certain));
        }

        private void tell() {
            if (!isTold && !hasEnded()) {
                isTold = true;
                guarded(() -> sequence.advanced(count));
            }
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
            memory.ifPresent(_ -> share());
            memory.ifPresent(KvCache::close);
            try {
                farewell.ifPresent(Runnable::run);
            } catch (RuntimeException failure) {
                sequence.failed(failure);
            }
        }
    }
}
