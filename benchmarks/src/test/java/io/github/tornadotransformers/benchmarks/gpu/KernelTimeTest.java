package io.github.tornadotransformers.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.benchmarks.gpu.KernelTime.Bound;
import io.github.tornadotransformers.benchmarks.gpu.KernelWork.Level;
import io.github.tornadotransformers.benchmarks.gpu.KernelWork.Loads;
import java.util.List;
import org.junit.jupiter.api.Test;

/** On a GPU of round figures: a cycle is a nanosecond, which brings 100 bytes; 10 processors of 8 groups; a launch is a microsecond. */
class KernelTimeTest {
    private static final Gpu ROUND = new Gpu(
            "round",
            new Gpu.Processors(10, 1024, 32, 1e9),
            new Gpu.Memory(1L << 40, 100e9, 1.0, 100, 50, 10),
            new Gpu.Launch(1e-6, 1e-6),
            "made up");

    private static final int ALL = 10 * 8 * 128;

    @Test
    void memoryTakesBytesOverBandwidthOnceTheFirstLoadHasArrived() {
        // 10,240 items with 64 bytes each on their way are far more than the 10,000 bytes of 100 cycles: the latency is
        // doubled.
        KernelWork work =
                new KernelWork(ALL, 128, 32, 1_000_000, 0, 0, List.of(new Loads(Level.MEMORY, 16, 16, 4)), 0, 0);

        requireMicros(work, 1 + 0.2 + 10, Bound.MEMORY);
    }

    @Test
    void memoryGivesNoMoreThanWhatCanBeAttained() {
        Gpu.Memory half = new Gpu.Memory(1L << 40, 100e9, 0.5, 100, 50, 10);
        Gpu gpu = new Gpu("half", ROUND.processors(), half, ROUND.launch(), "made up");
        KernelWork work = new KernelWork(ALL, 128, 32, 1_000_000, 0, 0, List.of(), 0, 0);

        assertThat(KernelTime.of(work, gpu, 1e-6).seconds()).isCloseTo(21e-6, within(1e-12));
    }

    @Test
    void loadsThatDoNotFitTheFlightWait() {
        // Twelve loads, four at once: three times 50 cycles; then 1850 in which each instruction waits.
        KernelWork work = new KernelWork(128, 128, 32, 0, 0, 0, List.of(new Loads(Level.CACHE, 12, 4, 4)), 1850, 0);

        requireMicros(work, 1 + 2, Bound.WAITING);
    }

    @Test
    void aProcessorsOwnCacheIsNear() {
        KernelWork work = new KernelWork(128, 128, 32, 0, 0, 0, List.of(new Loads(Level.NEAR, 301, 1, 4)), 0, 0);

        requireMicros(work, 1 + 3.01, Bound.WAITING);
    }

    @Test
    void aLoadTakesLongerTheMoreAreOnTheirWay() {
        // 128 items of 4 bytes are 512 of 10,000: 100 cycles become 105.12.
        KernelWork work = new KernelWork(128, 128, 32, 4096, 0, 0, List.of(new Loads(Level.MEMORY, 8, 1, 4)), 0, 0);

        requireMicros(work, 1 + 0.84096, Bound.LAUNCH);
    }

    @Test
    void memoryWaitsForWhatIsApart() {
        KernelWork work = new KernelWork(ALL, 128, 32, 1_000_000, 0, 0, List.of(), 500, 300);

        requireMicros(work, 1 + 0.3 + 10, Bound.MEMORY);
    }

    @Test
    void aLargeGroupTakesAsManyTurnsOfInstructions() {
        // 20 groups of 512 items on ten processors: two on each, of 128 items a cycle.
        KernelWork work = new KernelWork(20 * 512, 512, 32, 0, 0, 1000, List.of(), 0, 0);

        requireMicros(work, 1 + 8, Bound.INSTRUCTIONS);
    }

    @Test
    void groupsTakeTurnsWhereRegistersAreFew() {
        // 65,536 registers are four groups of 128 items with 128 registers: 80 groups are two turns of 40.
        KernelWork work = new KernelWork(ALL, 128, 128, 0, 0, 0, List.of(), 3000, 0);

        requireMicros(work, 1 + 6, Bound.WAITING);
    }

    @Test
    void theProcessorWithMostGroupsIsTheLastOne() {
        // 81 groups on ten processors: one has nine.
        KernelWork work = new KernelWork(ALL + 1, 128, 32, 0, 0, 1000, List.of(), 0, 0);

        requireMicros(work, 1 + 9, Bound.INSTRUCTIONS);
    }

    @Test
    void theCacheGivesEachProcessor32BytesACycle() {
        KernelWork work = new KernelWork(ALL, 128, 32, 0, 3_200_000, 0, List.of(), 0, 0);

        requireMicros(work, 1 + 10, Bound.CACHE);
    }

    @Test
    void nothingTakesALaunch() {
        requireMicros(new KernelWork(0, 128, 32, 0, 0, 0, List.of(), 0, 0), 1, Bound.LAUNCH);
    }

    private static void requireMicros(KernelWork work, double micros, Bound bound) {
        KernelTime time = KernelTime.of(work, ROUND, 1e-6);
        assertThat(time.seconds() * 1e6).isCloseTo(micros, within(1e-9));
        assertThat(time.bound()).isEqualTo(bound);
        assertThat(time.launchSeconds()).isEqualTo(1e-6);
    }
}
