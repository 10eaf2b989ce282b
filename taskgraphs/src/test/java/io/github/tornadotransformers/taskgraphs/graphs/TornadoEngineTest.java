package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostInterpreter;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.kernels.LikeliestKernels;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.CacheFullException;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.testsupport.BatchSchedule;
import io.github.tornadotransformers.testsupport.Bits;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many sequences on one device, on the emulator: what each gets is, to the bit, what it gets alone on the host. Pages that are
 * free are NaN.
 */
@OnEmulator
class TornadoEngineTest {
    private static final LogitsSink NOWHERE = (_, _, _, _) -> {};
    private static final int CONTEXT = 160;

    /** Rows with every kind of chain: for one, several and many; without the one for several; for one alone. */
    private static final int[] ROWS = {32, 40, 12, 1};

    private record Model(String name, Program program, DType dtype, KvType kvType, Weights weights) {
        static Model of(RandomData data) {
            ModelConfig config = RandomConfigs.of(data, CONTEXT);
            Program program = config.program(CONTEXT);
            DType dtype = DType.OF_MATRICES.get(data.between(0, 3));
            KvType kvType = KvType.values()[data.between(0, KvType.values().length - 1)];
            Weights weights = RandomModels.weights(program, dtype, data);
            return new Model(dtype + ", cache " + kvType + ", " + config, program, dtype, kvType, weights);
        }

        Model with(KvType type) {
            return new Model(name, program, dtype, type, weights);
        }

        /** Free pages are NaN. */
        TornadoEngine open(EmulatedDevice device, GraphMode graph, int rows, int pages) {
            return open(graph, rows, pages, device::poison);
        }

        TornadoEngine open(GraphMode graph, int rows, int pages, FreedPages freed) {
            DeviceInfo info = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
            DeviceOptions options = DeviceOptions.of(info)
                    .withGraph(graph)
                    .withPrefillRows(rows)
                    .withKvType(kvType);
            long cacheBytes = pages * TornadoEngine.cacheBytes(program, kvType, 1);
            return TornadoEngine.open(
                    program, dtype, _ -> weights, options, cacheBytes, new TornadoEngine.Hooks((_, _) -> true, freed));
        }

        /** Of every token, the sequence being alone. */
        float[][] logits(int[] tokens) {
            float[][] all = new float[tokens.length][];
            try (ForwardPass alone = new HostForwardPass(new HostInterpreter(
                    program, weights, new ScalarOps(), kvType, HostInterpreter.cacheBytes(program, kvType, CONTEXT)))) {
                alone.forwardAll(
                        tokens,
                        0,
                        (position, logits, offset) ->
                                all[position] = Arrays.copyOfRange(logits, offset, offset + program.vocabSize()));
            }
            return all;
        }

        List<BatchSchedule.Text> texts(RandomData data, int count) {
            List<BatchSchedule.Text> texts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int length = data.coin() ? data.between(1, 12) : data.between(1, CONTEXT);
                int[] tokens = data.ints(length, program.vocabSize());
                texts.add(new BatchSchedule.Text(tokens, logits(tokens)));
            }
            return texts;
        }
    }

    static LongStream seeds() {
        return LongStream.range(0, Integer.getInteger("fuzz.runs", 16));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void noSequenceDependsOnItsNeighbours(long seed, EmulatedDevice device) {
        RandomData data = new RandomData(seed);
        Model model = Model.of(data);
        List<BatchSchedule.Text> texts = model.texts(data, data.between(2, 6));
        GraphMode graph = GraphMode.values()[(int) (seed % 2)];
        int rows = ROWS[(int) (seed / 2 % ROWS.length)];
        // So few pages that sequences wait, and get the pages of others.
        try (TornadoEngine engine = model.open(device, graph, rows, data.between(2, 4))) {
            BatchSchedule.run(model.name + ", " + graph + ", " + rows + " rows", engine, texts, new RandomData(seed));
        }
    }

    /** Sequences that decode together: their tokens and their logits go through kernels for several rows. */
    @Test
    void sequencesThatDecodeTogetherShareKernels(EmulatedDevice device) {
        Model model = Model.of(new RandomData(5));
        List<BatchSchedule.Text> texts = model.texts(new RandomData(6), 9);
        try (TornadoEngine engine = model.open(device, GraphMode.LAYERED, 64, 20)) {
            List<KvCache> caches = texts.stream().map(_ -> engine.open(CONTEXT)).toList();
            for (int position = 0; position < 4; position++) {
                List<Span> spans = new ArrayList<>();
                List<BatchSchedule.Text> running = new ArrayList<>();
                for (int i = 0; i < texts.size(); i++) {
                    int[] tokens = texts.get(i).tokens();
                    if (position < tokens.length) {
                        running.add(texts.get(i));
                        spans.add(new Span(caches.get(i), position, new int[] {tokens[position]}, Wanted.LAST));
                    }
                }
                long before = device.tasksRun();
                engine.run(new Batch(spans), (span, at, logits, offset) -> {
                    float[] expected = running.get(span).logits()[at];
                    Bits.assertSame(
                            "position " + at, Arrays.copyOfRange(logits, offset, offset + expected.length), expected);
                });
                if (position > 0) {
                    assertThat(device.tasksRun() - before)
                            .as("tasks of a step of " + spans.size())
                            .isLessThan(tasksOfOne(device, engine) * 3L);
                }
            }
        }
    }

    /** On a GPU; of every other sequence all logits are wanted, or too many candidates: they come beside. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9, 50})
    void candidatesServeInsteadOfLogits(int sequences) {
        Emulator.run(new EmulatedDevice(DeviceLimits.GPU), () -> {
            Model model = Model.of(new RandomData(5));
            List<BatchSchedule.Text> texts = model.texts(new RandomData(6), sequences);
            Found found = new Found(texts);
            int several = Math.min(40, model.program.vocabSize());
            int[] counts = {1, 0, several, LikeliestKernels.MOST + 1};
            try (TornadoEngine engine = model.open(GraphMode.LAYERED, 64, 50, FreedPages.NONE)) {
                for (boolean all : new boolean[] {false, true}) {
                    List<Span> spans = new ArrayList<>();
                    for (BatchSchedule.Text text : texts) {
                        int candidates = all ? several : counts[spans.size() % counts.length];
                        int[] tokens =
                                Arrays.copyOf(text.tokens(), Math.min(sequences < 10 ? 5 : 1, text.tokens().length));
                        spans.add(new Span(engine.open(CONTEXT), 0, tokens, Wanted.LAST, candidates));
                    }
                    engine.run(new Batch(spans), found);
                    spans.forEach(span -> span.cache().close());
                }
            }
            assertThat(found.candidates).isEqualTo(sequences + Math.ceilDiv(sequences, 2));
            assertThat(found.logits).isEqualTo(sequences / 2);
        });
    }

    private static final class Found implements LogitsSink {
        private final List<BatchSchedule.Text> texts;
        private int candidates;
        private int logits;

        Found(List<BatchSchedule.Text> texts) {
            this.texts = texts;
        }

        @Override
        public void accept(int span, int position, float[] all, int offset) {
            float[] expected = texts.get(span).logits()[position];
            Bits.assertSame("span " + span, Arrays.copyOfRange(all, offset, offset + expected.length), expected);
            logits++;
        }

        @Override
        public void acceptCandidates(int span, int position, Candidates found) {
            float[] all = texts.get(span).logits()[position];
            Candidates expected = RankedTokens.of(all, 0, all.length, found.ids().length);
            assertThat(found.ids()).containsExactly(expected.ids());
            Bits.assertSame("span " + span, found.logits(), expected.logits());
            candidates++;
        }
    }

    private static long tasksOfOne(EmulatedDevice device, TornadoEngine engine) {
        long before = device.tasksRun();
        try (KvCache cache = engine.open(1)) {
            engine.run(Batch.of(new Span(cache, 0, new int[1], Wanted.LAST)), NOWHERE);
        }
        return device.tasksRun() - before;
    }

    /** Whole pages are shared, the beginning of a page is copied; both in every layer, and of every kind of keys and values. */
    @ParameterizedTest
    @EnumSource
    void sequencesThatBeginInTheSameWayShareAndCopyPages(KvType type, EmulatedDevice device) {
        RandomData data = new RandomData(type.ordinal());
        Model model = Model.of(data).with(type);
        int[] tokens = data.ints(CONTEXT - 5, model.program.vocabSize());
        float[][] expected = model.logits(tokens);
        try (TornadoEngine engine = model.open(device, GraphMode.LAYERED, 32, 4);
                KvCache first = engine.open(CONTEXT)) {
            engine.run(Batch.of(new Span(first, 0, tokens, Wanted.NONE)), NOWHERE);
            first.share(tokens);
            try (KvCache second = engine.open(CONTEXT)) {
                int known = second.reuse(tokens);
                assertThat(known).isEqualTo(tokens.length - 1);
                int[] last = {tokens[known]};
                engine.run(
                        Batch.of(new Span(second, known, last, Wanted.LAST)),
                        (_, at, logits, offset) -> Bits.assertSame(
                                "position " + at,
                                Arrays.copyOfRange(logits, offset, offset + model.program.vocabSize()),
                                expected[at]));
            }
        }
    }

    @Test
    void aBatchThatFindsTooFewPagesLeavesEverythingAsItWas(EmulatedDevice device) {
        Model model = Model.of(new RandomData(2));
        try (TornadoEngine engine = model.open(device, GraphMode.LAYERED, 8, 2);
                KvCache first = engine.open(CONTEXT);
                KvCache second = engine.open(CONTEXT)) {
            engine.run(Batch.of(new Span(first, 0, new int[5], Wanted.NONE)), NOWHERE);
            Batch tooLarge = Batch.of(
                    new Span(first, 3, new int[129], Wanted.LAST), new Span(second, 0, new int[1], Wanted.LAST));
            assertThatThrownBy(() -> engine.run(tooLarge, NOWHERE))
                    .isInstanceOf(CacheFullException.class)
                    .hasMessageContaining("2 more pages")
                    .hasMessageContaining("1 of 2 are free");
            assertThat(first.length()).isEqualTo(5);
            assertThat(second.reserve(128)).isTrue();
            assertThat(engine.canHold(CONTEXT)).isTrue();
        }
    }

    /** What the tests above rest on: a page that is read when it is free spoils the logits. */
    @Test
    void aFreePageIsNaN(EmulatedDevice device) {
        Model model = Model.of(new RandomData(3));
        int[] tokens = new RandomData(4).ints(3, model.program.vocabSize());
        List<Runnable> poison = new ArrayList<>();
        FreedPages noted = (array, first, count) -> poison.add(() -> device.poison(array, first, count));
        try (TornadoEngine engine = model.open(GraphMode.LAYERED, 1, 1, noted)) {
            KvCache cache = engine.open(3);
            engine.run(Batch.of(new Span(cache, 0, tokens, Wanted.NONE)), NOWHERE);
            cache.close();
            // The next sequence has the same page, and its two first positions once more.
            KvCache next = engine.open(3);
            engine.run(Batch.of(new Span(next, 0, Arrays.copyOf(tokens, 2), Wanted.NONE)), NOWHERE);
            assertThat(poison).hasSize(2 * model.program.layers());
            poison.forEach(Runnable::run);
            assertThat(isSpoilt(engine, new Span(next, 2, new int[] {tokens[2]}, Wanted.LAST)))
                    .isTrue();
        }
    }

    /** All logits are NaN, or the emulator refuses activations that hold poison and nothing else. */
    private static boolean isSpoilt(TornadoEngine engine, Span span) {
        boolean[] spoilt = {true};
        try {
            engine.run(Batch.of(span), (_, _, logits, offset) -> {
                for (int i = 0; i < engine.program().vocabSize(); i++) {
                    spoilt[0] &= Float.isNaN(logits[offset + i]);
                }
            });
        } catch (DeviceException refused) {
            return refused.getMessage().contains("which nothing transferred and no task wrote");
        }
        return spoilt[0];
    }
}
