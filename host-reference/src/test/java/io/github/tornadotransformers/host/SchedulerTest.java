package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.CacheUse;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Guesser;
import io.github.tornadotransformers.models.generation.Perplexity;
import io.github.tornadotransformers.models.generation.PerplexityWindows;
import io.github.tornadotransformers.models.generation.PromptLookup;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.generation.Sequence;
import io.github.tornadotransformers.models.generation.Step;
import io.github.tornadotransformers.models.generation.StopReason;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.Generations;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import io.github.tornadotransformers.testsupport.RankedTokens;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sequences that come and go on one engine: each gets what it gets alone, in its turn, and none is lost. */
class SchedulerTest {
    private static final int CONTEXT = 300;

    private final RandomData data = new RandomData(5);
    private final Program program = RandomConfigs.of(data, CONTEXT).program(CONTEXT);
    private final Weights weights = RandomModels.weights(program, DType.F32, data);

    private static HostInterpreter open(Program program, Weights weights, HostOps ops, int pages) {
        return open(program, weights, ops, KvType.F32, pages);
    }

    private static HostInterpreter open(Program program, Weights weights, HostOps ops, KvType type, int pages) {
        return new HostInterpreter(program, weights, ops, type, pages * HostInterpreter.cacheBytes(program, type, 1));
    }

    /** Hands over candidates wherever they serve, and notes how many. */
    private record Finding(Engine engine, List<Integer> found) implements Engine {
        @Override
        public Program program() {
            return engine.program();
        }

        @Override
        public KvCache open(int positions) {
            return engine.open(positions);
        }

        @Override
        public boolean canHold(int positions) {
            return engine.canHold(positions);
        }

        @Override
        public CacheUse cacheUse() {
            return engine.cacheUse();
        }

        @Override
        public void run(Batch batch, LogitsSink sink) {
            engine.run(batch, (span, position, logits, offset) -> {
                int candidates = batch.spans().get(span).candidates();
                if (candidates > 0) {
                    found.add(candidates);
                    sink.acceptCandidates(
                            span,
                            position,
                            RankedTokens.of(logits, offset, program().vocabSize(), candidates));
                } else {
                    sink.accept(span, position, logits, offset);
                }
            });
        }

        @Override
        public void trace(TraceListener listener) {
            engine.trace(listener);
        }

        @Override
        public void close() {
            engine.close();
        }
    }

    private Generation generation(int[] prompt, SamplingOptions sampling, GenerationListener listener) {
        return new Generation(
                prompt,
                CONTEXT,
                new Sampler(sampling, program.vocabSize()),
                Optional.empty(),
                GenerationOptions.ofTokens(9),
                Optional.empty(),
                listener);
    }

    @Test
    void textsThatNobodyWatchesTakeCandidates() {
        List<List<int[]>> ids = new ArrayList<>();
        List<Integer> found = new ArrayList<>();
        int[] prompt = data.ints(20, program.vocabSize());
        SamplingOptions sampling = new SamplingOptions(0.9, 5, 0.9, 0, 1, 42, false);
        for (boolean finds : new boolean[] {false, true}) {
            try (HostInterpreter host = open(program, weights, new ScalarOps(), 20)) {
                Engine engine = finds ? new Finding(host, found) : host;
                List<Generation> generations = List.of(
                        generation(prompt, SamplingOptions.GREEDY, GenerationListener.NONE),
                        generation(prompt, sampling, GenerationListener.NONE),
                        generation(prompt, sampling, _ -> {}),
                        generation(prompt, SamplingOptions.GREEDY, _ -> {}));
                try (Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(4, 400, 9))) {
                    generations.forEach(scheduler::add);
                    scheduler.run();
                }
                ids.add(generations.stream().map(each -> each.result().ids()).toList());
            }
        }
        assertThat(ids.getLast()).usingRecursiveComparison().isEqualTo(ids.getFirst());
        assertThat(found).hasSize(18).containsOnly(1, 5);
    }

    /** Takes the likeliest token, keeps what it has seen, and that nothing is called after its end. */
    private static class Greedy implements Sequence, GenerationListener {
        private final int vocabSize;
        private final int tokens;
        private final Generation generation;
        private final List<float[]> logits = new ArrayList<>();
        private StopReason end;
        private RuntimeException failure;
        private int steps;
        private int cancelledAfter = Integer.MAX_VALUE;

        Greedy(Program program, int[] prompt, int tokens) {
            this(program, prompt, tokens, SamplingOptions.GREEDY, Optional.empty());
        }

        Greedy(Program program, int[] prompt, int tokens, SamplingOptions sampling, Optional<Guesser> guesser) {
            vocabSize = program.vocabSize();
            this.tokens = tokens;
            generation = new Generation(
                    prompt,
                    program.contextLength(),
                    new Sampler(sampling, vocabSize),
                    Optional.empty(),
                    GenerationOptions.ofTokens(tokens),
                    guesser,
                    this);
        }

        @Override
        public int positions() {
            return generation.positions();
        }

        @Override
        public Step next(int mostGuesses) {
            assertThat(hasEnded()).isFalse();
            return generation.next(mostGuesses);
        }

        @Override
        public Optional<StopReason> accept(float[] all, int offset) {
            assertThat(hasEnded()).isFalse();
            return generation.accept(all, offset);
        }

        @Override
        public void reused(int count) {
            assertThat(hasEnded()).isFalse();
            generation.reused(count);
        }

        @Override
        public void advanced(int count) {
            assertThat(hasEnded()).isFalse();
            generation.advanced(count);
        }

        @Override
        public void text(String piece) {}

        @Override
        public void chosen(int token, float[] all, int offset) {
            logits.add(Arrays.copyOfRange(all, offset, offset + vocabSize));
        }

        @Override
        public boolean isCancelled() {
            steps++;
            return steps > cancelledAfter;
        }

        @Override
        public void ended(StopReason reason) {
            assertThat(hasEnded()).isFalse();
            end = reason;
            generation.ended(reason);
        }

        @Override
        public void failed(RuntimeException thrown) {
            assertThat(hasEnded()).isFalse();
            failure = thrown;
        }

        boolean hasEnded() {
            return end != null || failure != null;
        }

        /** Its ids by a run of its own, without guesses, and all logits that it was given. */
        void assertAsAlone(Program program, Weights weights) {
            assertAsAlone(program, weights, KvType.F32);
        }

        void assertAsAlone(Program program, Weights weights, KvType type) {
            if (logits.isEmpty()) {
                return;
            }
            GenerationResult result = generation.result();
            int first = result.promptIds().length - 1;
            int[] ids = Arrays.copyOf(result.promptIds(), first + result.ids().length);
            System.arraycopy(result.ids(), 0, ids, first + 1, result.ids().length - 1);
            assertThat(logits).hasSize(result.ids().length);
            int pages = AttentionShape.pages(program.contextLength());
            try (HostForwardPass alone = new HostForwardPass(open(program, weights, new ScalarOps(), type, pages))) {
                alone.forwardAll(ids, 0, (position, all, offset) -> {
                    if (position >= first) {
                        float[] expected = Arrays.copyOfRange(all, offset, offset + vocabSize);
                        Bits.assertSame("position " + position, logits.get(position - first), expected);
                    }
                });
                SamplingOptions sampling = generation.sampling();
                GenerationResult plain = Generations.sampled(
                        alone, result.promptIds(), sampling, GenerationOptions.ofTokens(result.ids().length));
                assertThat(result.ids()).isEqualTo(plain.ids());
            }
        }
    }

    /** Guesses what comes by repetition, or anything: it is right only by chance. */
    private static Optional<Guesser> guesser(RandomData random, int vocabSize) {
        return switch (random.between(0, 2)) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(new PromptLookup());
            default -> Optional.of((_, _, _, most) -> random.ints(random.between(0, Math.min(most, 9)), vocabSize));
        };
    }

    private static SamplingOptions sampling(RandomData random) {
        return random.coin()
                ? SamplingOptions.GREEDY
                : new SamplingOptions(
                        0.2 + random.between(0, 9) / 10.0,
                        random.between(0, 9),
                        0.9,
                        0,
                        1.1,
                        random.between(0, 99),
                        false);
    }

    private Greedy greedy(int prompt, int tokens) {
        return new Greedy(program, data.ints(prompt, program.vocabSize()), tokens);
    }

    static LongStream seeds() {
        return LongStream.range(0, Integer.getInteger("fuzz.runs", 12));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everySequenceGetsWhatItGetsAlone(long seed) {
        RandomData random = new RandomData(seed);
        Program any = RandomConfigs.of(random, CONTEXT).program(CONTEXT);
        Weights own = RandomModels.weights(any, DType.OF_MATRICES.get(random.between(0, 3)), random);
        List<Greedy> all = new ArrayList<>();
        int[] beginning = random.ints(random.between(1, 200), any.vocabSize());
        for (int i = random.between(2, 9); i > 0; i--) {
            int[] prompt = random.ints(random.coin() ? random.between(1, 9) : random.between(1, 200), any.vocabSize());
            if (random.coin()) {
                int common = random.between(0, Math.min(prompt.length, beginning.length));
                System.arraycopy(beginning, 0, prompt, 0, common);
            }
            all.add(new Greedy(
                    any,
                    prompt,
                    random.between(1, random.coin() ? 5 : 60),
                    sampling(random),
                    guesser(random, any.vocabSize())));
            if (random.between(0, 4) == 0) {
                all.getLast().cancelledAfter = random.between(0, 20);
            }
        }
        int pages = random.between(3, 8);
        int runningAtMost = random.between(1, 6);
        SchedulerLimits limits = new SchedulerLimits(runningAtMost, runningAtMost + random.between(1, 130), 99);
        int[] threads = {1, 2, 7};
        KvType type = KvType.values()[random.between(0, 2)];
        try (HostInterpreter engine = open(any, own, new VectorOps(threads[random.between(0, 2)]), type, pages);
                Scheduler scheduler = new Scheduler(engine, limits)) {
            List<Greedy> coming = new ArrayList<>(all);
            while (!coming.isEmpty() || scheduler.size() > 0) {
                while (!coming.isEmpty() && random.coin()) {
                    scheduler.add(coming.removeFirst());
                }
                scheduler.step();
            }
            assertEverythingWasGivenBack(engine, pages);
        }
        for (Greedy each : all) {
            assertThat(each.end)
                    .isEqualTo(each.logits.size() == each.tokens ? StopReason.LENGTH : StopReason.CANCELLED);
            each.assertAsAlone(any, own, type);
        }
    }

    static void assertEverythingWasGivenBack(HostInterpreter engine, int pages) {
        List<KvCache> caches = new ArrayList<>();
        for (int page = 0; page < pages; page++) {
            caches.add(engine.open(1));
            assertThat(caches.getLast().reserve(1)).isTrue();
        }
        caches.forEach(KvCache::close);
    }

    @Test
    void whoCameFirstJoinsFirstEvenWhereALaterOneWouldFit() {
        Greedy runs = greedy(200, 3);
        Greedy waits = greedy(290, 3);
        Greedy small = greedy(2, 1);
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 3);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(4, 400, 9))) {
            scheduler.add(runs);
            scheduler.add(waits);
            scheduler.add(small);
            scheduler.step();
            assertThat(runs.logits).hasSize(1);
            while (!runs.hasEnded()) {
                assertThat(waits.logits).isEmpty();
                assertThat(small.logits).isEmpty();
                scheduler.step();
            }
            scheduler.run();
            assertThat(waits.end).isEqualTo(StopReason.LENGTH);
            assertThat(small.end).isEqualTo(StopReason.LENGTH);
        }
    }

    /** All but the last token, which is run for its logits. */
    @Test
    void whatASequenceHasInCommonWithAnEarlierOneIsNotRunAgain() {
        int[] prompt = data.ints(250, program.vocabSize());
        int[] other = prompt.clone();
        other[200] = (prompt[200] + 1) % program.vocabSize();
        Greedy first = new Greedy(program, prompt, 9);
        Greedy same = new Greedy(program, prompt, 9);
        Greedy differs = new Greedy(program, other, 9);
        Greedy longer = new Greedy(program, Arrays.copyOf(prompt, 270), 9);
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 9);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(1, 50, 9))) {
            List.of(first, same, differs, longer).forEach(scheduler::add);
            scheduler.run();
            assertThat(first.generation.result().reusedTokens()).isZero();
            assertThat(same.generation.result().reusedTokens()).isEqualTo(249);
            assertThat(same.generation.result().prefillTokens()).isEqualTo(1);
            assertThat(differs.generation.result().reusedTokens()).isEqualTo(200);
            assertThat(longer.generation.result().reusedTokens()).isEqualTo(250);
            assertEverythingWasGivenBack(engine, 9);
        }
        for (Greedy each : List.of(first, same, differs, longer)) {
            each.assertAsAlone(program, weights);
        }
    }

    /** In a pool of 3 pages: what is kept goes when it is needed, and never what someone runs on. */
    @Test
    void whatIsKeptGivesWayToWhoRuns() {
        List<Greedy> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(greedy(200, 3));
        }
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 3);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(2, 400, 9))) {
            all.forEach(scheduler::add);
            scheduler.run();
            assertEverythingWasGivenBack(engine, 3);
        }
        all.forEach(each -> each.assertAsAlone(program, weights));
    }

    @Test
    void windowsOfATextAreMeasuredTogetherToTheSameBit() {
        int[] ids = data.ints(700, program.vocabSize());
        PerplexityWindows windows = new PerplexityWindows(ids, program.vocabSize(), 60, 25, _ -> {});
        try (HostInterpreter engine = open(program, weights, new VectorOps(2), 9);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(5, 37, 99));
                HostForwardPass alone = new HostForwardPass(program, weights, new ScalarOps())) {
            windows.sequences().forEach(scheduler::add);
            scheduler.run();
            assertThat(windows.result()).isEqualTo(Perplexity.of(alone, ids, 60, 25));
        }
    }

    @Test
    void decodingGoesOnBesideALongPrompt() {
        Greedy decoding = greedy(1, 40);
        Greedy prompt = greedy(200, 1);
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 9);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(2, 11, 9))) {
            scheduler.add(decoding);
            scheduler.step();
            scheduler.add(prompt);
            for (int step = 1; step <= 20; step++) {
                assertThat(prompt.hasEnded()).isFalse();
                scheduler.step();
                assertThat(decoding.logits).hasSize(1 + step);
            }
            assertThat(prompt.end).isEqualTo(StopReason.LENGTH);
        }
    }

    @Test
    void whatASequenceThrowsEndsItAlone() {
        IllegalStateException thrown = new IllegalStateException("no");
        Greedy fails = new Greedy(program, new int[2], 9) {
            @Override
            public void chosen(int token, float[] all, int offset) {
                super.chosen(token, all, offset);
                if (super.logits.size() == 3) {
                    throw thrown;
                }
            }
        };
        Greedy goesOn = greedy(3, 9);
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 2);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(2, 9, 9))) {
            scheduler.add(fails);
            scheduler.add(goesOn);
            scheduler.run();
            assertThat(fails.failure).isSameAs(thrown);
            assertThat(goesOn.end).isEqualTo(StopReason.LENGTH);
            assertEverythingWasGivenBack(engine, 2);
        }
        goesOn.assertAsAlone(program, weights);
    }

    @Test
    void whoIsCancelledLeavesBeforeTheNextStep() {
        Greedy runs = greedy(3, 50);
        Greedy waits = greedy(3, 50);
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 1);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(1, 9, 9))) {
            scheduler.add(runs);
            scheduler.add(waits);
            scheduler.step();
            runs.cancelledAfter = 0;
            waits.cancelledAfter = 0;
            scheduler.step();
            assertThat(scheduler.size()).isZero();
            assertThat(runs.end).isEqualTo(StopReason.CANCELLED);
            assertThat(runs.logits).hasSize(1);
            assertThat(waits.end).isEqualTo(StopReason.CANCELLED);
            assertThat(waits.logits).isEmpty();
            assertEverythingWasGivenBack(engine, 1);
        }
    }

    @Test
    void closingEndsWhoeverIsThere() {
        Greedy runs = greedy(3, 9);
        Greedy waits = greedy(3, 9);
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 2)) {
            try (Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(1, 9, 9))) {
                scheduler.add(runs);
                scheduler.add(waits);
                scheduler.step();
            }
            assertThat(runs.end).isEqualTo(StopReason.CANCELLED);
            assertThat(waits.end).isEqualTo(StopReason.CANCELLED);
            assertEverythingWasGivenBack(engine, 2);
        }
    }

    @Test
    void whatCannotEverRunIsRefused() {
        try (HostInterpreter engine = open(program, weights, new ScalarOps(), 1);
                Scheduler scheduler = new Scheduler(engine, new SchedulerLimits(1, 9, 1))) {
            Sequence tooLong = new Greedy(program, new int[2], 2) {
                @Override
                public int positions() {
                    return 301;
                }
            };
            refuse(scheduler, tooLong, "a sequence of 301 positions, but the context holds 300");
            refuse(
                    scheduler,
                    greedy(129, 1),
                    "a sequence of 129 positions, for which the key-value cache has too little memory even when"
                            + " nothing else runs");
            scheduler.add(greedy(1, 1));
            refuse(scheduler, greedy(1, 1), "1 sequences wait already: try again when some have ended");
        }
        assertThatThrownBy(() -> new SchedulerLimits(4, 4, 1))
                .isInstanceOf(InvalidRequest.class)
                .hasMessage(
                        "4 running sequences, 4 rows and 1 waiting: expected 1 or more running, more rows than that,"
                                + " and 1 or more waiting");
    }

    private static void refuse(Scheduler scheduler, Sequence sequence, String message) {
        assertThatThrownBy(() -> scheduler.add(sequence))
                .isInstanceOf(InvalidRequest.class)
                .hasMessage(message);
    }
}
