package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.PromptLookup;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Generations;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A scheduler that runs for long: nothing is left behind by those that have gone, and the last get what they get alone.
 * {@code -Dsoak.tokens=1000000} runs as many tokens, prompts included.
 */
class SchedulerSoakTest {
    private static final long TOKENS = Long.getLong("soak.tokens", 20_000);
    private static final int CONTEXT = 200;
    private static final int PARTS = 10;
    private static final int LAST = 20;
    private static final long SLACK = 4 << 20;

    private final RandomData data = new RandomData(77);
    private final Program program = RandomConfigs.of(data, CONTEXT).program(CONTEXT);
    private final Weights weights = RandomModels.weights(program, DType.F32, data);
    private final int[] beginning = data.ints(150, program.vocabSize());

    /** Half of them begin alike, some guess, some are greedy. */
    private Generation next() {
        int[] prompt = data.ints(data.between(1, 60), program.vocabSize());
        if (data.coin()) {
            int[] longer = data.ints(data.between(1, 150), program.vocabSize());
            System.arraycopy(beginning, 0, longer, 0, data.between(0, longer.length));
            prompt = longer;
        }
        return new Generation(
                prompt,
                CONTEXT,
                new Sampler(sampling(data.between(0, 9)), program.vocabSize()),
                Optional.empty(),
                GenerationOptions.ofTokens(data.between(1, 50)),
                data.coin() ? Optional.of(new PromptLookup()) : Optional.empty(),
                GenerationListener.NONE);
    }

    private static SamplingOptions sampling(int seed) {
        return seed < 5 ? SamplingOptions.GREEDY : new SamplingOptions(0.8, 20, 1, 0, 1, seed, false);
    }

    @Test
    void nothingIsLeftBehind() {
        int pages = 24;
        List<Generation> last = new ArrayList<>();
        List<Long> heap = new ArrayList<>();
        try (HostInterpreter engine = new HostInterpreter(
                        program,
                        weights,
                        new VectorOps(2),
                        KvType.F32,
                        pages * HostInterpreter.cacheBytes(program, KvType.F32, 1));
                Scheduler scheduler = new Scheduler(engine, SchedulerLimits.ofRunning(8))) {
            long done = 0;
            for (int part = 1; part <= PARTS; part++) {
                long started = System.nanoTime();
                long before = done;
                while (done < TOKENS * part / PARTS) {
                    while (scheduler.size() < 16) {
                        Generation next = next();
                        last.add(next);
                        scheduler.add(next);
                    }
                    scheduler.step();
                    while (last.size() > LAST && last.getFirst().hasEnded()) {
                        GenerationResult result = last.removeFirst().result();
                        done += result.promptIds().length + result.ids().length;
                    }
                }
                heap.add(usedHeap());
                System.out.printf(
                        Locale.ROOT,
                        "%d tokens: %.0f tokens/s, %d kB of heap%n",
                        done,
                        (done - before) * 1e9 / (System.nanoTime() - started),
                        heap.getLast() >> 10);
            }
            scheduler.run();
            SchedulerTest.assertEverythingWasGivenBack(engine, pages);
        }
        assertThat(heap.getLast()).isLessThan(heap.get(PARTS / 2 - 1) + SLACK);
        for (Generation each : last) {
            assertAsAlone(each);
        }
    }

    private void assertAsAlone(Generation generation) {
        GenerationResult result = generation.result();
        try (HostForwardPass alone = new HostForwardPass(program, weights, new ScalarOps())) {
            GenerationResult expected = Generations.sampled(
                    alone, result.promptIds(), generation.sampling(), GenerationOptions.ofTokens(result.ids().length));
            assertThat(result.ids()).isEqualTo(expected.ids());
        }
    }

    private static long usedHeap() {
        System.gc();
        Runtime jvm = Runtime.getRuntime();
        return jvm.totalMemory() - jvm.freeMemory();
    }
}
