package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.CacheFullException;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.PagedCache;
import io.github.tornadotransformers.models.batching.PagedCaches;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.BatchSchedule;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many sequences in one engine: what each gets is, to the bit, what it gets alone on {@link ScalarOps}. */
class HostInterpreterTest {
    private static final LogitsSink NOWHERE = (_, _, _, _) -> {};
    private static final int CONTEXT = 300;

    private record Model(String name, Program program, Weights weights, KvType kvType) {
        static Model of(RandomData data) {
            ModelConfig config = RandomConfigs.of(data, CONTEXT);
            Program program = config.program(CONTEXT);
            DType dtype = DType.OF_MATRICES.get(data.between(0, 3));
            WeightLayout layout = data.coin() ? WeightLayout.PANELS : WeightLayout.ROW_MAJOR;
            Weights weights = RandomModels.weights(program, dtype, layout, data);
            return new Model(dtype + " " + config, program, weights, KvType.values()[data.between(0, 2)]);
        }

        HostInterpreter open(HostOps ops, int pages, int chunkRows) {
            long cacheBytes = pages * HostInterpreter.cacheBytes(program, kvType, 1);
            return new HostInterpreter(program, weights, ops, kvType, cacheBytes, chunkRows);
        }

        /** Of every token, the sequence being alone. */
        float[][] logits(int[] tokens) {
            float[][] all = new float[tokens.length][];
            HostInterpreter engine = open(new ScalarOps(), AttentionShape.pages(CONTEXT), 128);
            try (HostForwardPass alone = new HostForwardPass(engine)) {
                alone.forwardAll(
                        tokens,
                        0,
                        (position, logits, offset) ->
                                all[position] = Arrays.copyOfRange(logits, offset, offset + program.vocabSize()));
            }
            return all;
        }
    }

    static LongStream seeds() {
        return LongStream.range(0, Integer.getInteger("fuzz.runs", 24));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void noSequenceDependsOnItsNeighbours(long seed) {
        RandomData data = new RandomData(seed);
        Model model = Model.of(data);
        List<BatchSchedule.Text> texts = new ArrayList<>();
        for (int i = data.between(2, 5); i > 0; i--) {
            int length = data.coin() ? data.between(1, 20) : data.between(1, CONTEXT);
            int[] tokens = data.ints(length, model.program.vocabSize());
            texts.add(new BatchSchedule.Text(tokens, model.logits(tokens)));
        }
        for (int threads : new int[] {0, 1, 2, 7}) {
            RandomData schedule = new RandomData(seed);
            int chunkRows = schedule.coin() ? HostInterpreter.DEFAULT_CHUNK_ROWS : schedule.between(1, 9);
            HostOps ops = threads == 0 ? new ScalarOps() : new VectorOps(threads);
            // So few pages that sequences wait, and get the pages of others.
            try (HostInterpreter engine = model.open(ops, schedule.between(3, 6), chunkRows)) {
                BatchSchedule.run(model.name + ", " + threads + " threads", engine, texts, schedule);
            }
        }
    }

    @Test
    void pagesAreTakenAsASequenceGrowsAndGivenBackWhenItEnds() {
        Model model = Model.of(new RandomData(1));
        try (HostInterpreter engine = model.open(new ScalarOps(), 3, 64);
                KvCache second = engine.open(CONTEXT)) {
            KvCache first = engine.open(CONTEXT);
            assertThat(first.reserve(128)).isTrue();
            assertThat(first.reserve(129)).isTrue();
            assertThat(second.reserve(129)).isFalse();
            assertThat(second.reserve(128)).isTrue();
            assertThat(first.reserve(257)).isFalse();
            first.close();
            assertThat(second.reserve(257)).isTrue();
        }
    }

    @Test
    void aBatchThatFindsTooFewPagesLeavesEverythingAsItWas() {
        Model model = Model.of(new RandomData(2));
        try (HostInterpreter engine = model.open(new ScalarOps(), 2, 64);
                KvCache first = engine.open(CONTEXT);
                KvCache second = engine.open(CONTEXT)) {
            int[] tokens = new int[129];
            engine.run(Batch.of(new Span(first, 0, new int[5], Wanted.NONE)), NOWHERE);
            Batch tooLarge =
                    Batch.of(new Span(first, 3, tokens, Wanted.LAST), new Span(second, 0, new int[1], Wanted.LAST));
            assertThatThrownBy(() -> engine.run(tooLarge, NOWHERE))
                    .isInstanceOf(CacheFullException.class)
                    .hasMessage("the batch needs 2 more pages of the key-value cache, of 128 positions each, but 1 of 2"
                            + " are free: run fewer sequences together, or give the cache more memory");
            assertThat(first.length()).isEqualTo(5);
            assertThat(second.reserve(128)).isTrue();
        }
    }

    @Test
    void whatCannotBeRunIsRefused() {
        Model model = Model.of(new RandomData(3));
        try (HostInterpreter engine = model.open(new ScalarOps(), 9, 64);
                HostInterpreter other = model.open(new ScalarOps(), 9, 64);
                KvCache cache = engine.open(10);
                KvCache foreign = other.open(10)) {
            KvCache closed = engine.open(10);
            closed.close();
            refuse(engine, new Span(cache, 0, new int[0], Wanted.LAST), "a span needs at least one token");
            refuse(
                    engine,
                    new Span(cache, 0, new int[11], Wanted.LAST),
                    "positions 0 to 10 do not fit a context of 10");
            refuse(
                    engine,
                    new Span(cache, 1, new int[1], Wanted.LAST),
                    "position 1 follows on what was not run: the cache holds 0 positions");
            refuse(
                    engine,
                    new Span(cache, 0, new int[] {model.program.vocabSize()}, Wanted.LAST),
                    "token id " + model.program.vocabSize() + " is not in the vocabulary of "
                            + model.program.vocabSize());
            for (KvCache unusable : List.of(closed, foreign)) {
                refuse(
                        engine,
                        new Span(unusable, 0, new int[1], Wanted.LAST),
                        "a span's cache is closed, or was opened by another engine");
            }
            Span span = new Span(cache, 0, new int[1], Wanted.LAST);
            assertThatThrownBy(() -> engine.run(Batch.of(span, span), NOWHERE))
                    .hasMessage("two spans of a batch have the same cache");
            assertThatThrownBy(() -> engine.run(Batch.of(), NOWHERE)).hasMessage("a batch needs at least one span");
            assertThatThrownBy(() -> engine.open(0)).hasMessage("a cache of 0 positions, expected 1 to 300");
            assertThatThrownBy(() -> engine.open(301)).hasMessage("a cache of 301 positions, expected 1 to 300");
            assertThatThrownBy(() -> cache.reserve(11)).hasMessage("11 positions do not fit a cache of 10");
            assertThatThrownBy(() -> closed.reserve(1)).hasMessage("the cache is closed");
        }
    }

    private static void refuse(HostInterpreter engine, Span span, String message) {
        assertThatThrownBy(() -> engine.run(Batch.of(span), NOWHERE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    /** So that a read of what a sequence has not stored, or another has left, shows in the logits. */
    @Test
    void pagesThatNobodyHasStoredToAreNaN() {
        Model model = Model.of(new RandomData(4));
        KvMemory memory = new KvMemory(model.program, KvType.F32);
        PagedCaches caches = new PagedCaches(model.program, 1, memory);
        PagedCache cache = caches.open(CONTEXT);
        assertThat(cache.reserve(1)).isTrue();
        KvPage page = memory.page(cache.page(0));
        assertThat(floats(page.keys(0))).containsOnly(Float.NaN);
        floats(page.keys(0))[3] = 1f;
        floats(page.values(0))[5] = 1f;
        cache.close();
        assertThat(floats(page.keys(0))).containsOnly(Float.NaN);
        assertThat(floats(page.values(0))).containsOnly(Float.NaN);
    }

    private static float[] floats(KvArray array) {
        return ((KvArray.Floats) array).elements();
    }
}
