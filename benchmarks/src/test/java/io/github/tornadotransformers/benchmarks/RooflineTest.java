package io.github.tornadotransformers.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RooflineTest {
    private static final long MILLISECOND = 1_000_000;
    private static final long BYTES = 20L << 20;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void threadsReadTheWholeMemoryBetweenThem(int threads) {
        try (StreamingRead memory = new StreamingRead(BYTES)) {
            long read = 0;
            for (int thread = 0; thread < threads; thread++) {
                read += memory.pass(thread, threads);
            }

            assertThat(read).isEqualTo(memory.bytes()).isGreaterThanOrEqualTo(BYTES);
        }
    }

    @Test
    void readingSumsWhatIsThere() {
        try (StreamingRead memory = new StreamingRead(BYTES)) {
            long _ = memory.pass(0, 1);
            float element = Float.intBitsToFloat(0x0101_0101);
            double lanes = memory.bytes() / (double) Float.BYTES / (memory.last() / element);

            assertThat(lanes).isCloseTo((double) FloatVector.SPECIES_PREFERRED.length(), withinPercentage(1));
        }
    }

    @Test
    void everyChainOfProductsAndSumsIsComputed() {
        MultiplyAdd arithmetic = new MultiplyAdd();

        long operations = arithmetic.pass();

        assertThat(arithmetic.last()).isEqualTo(12f); // each chain a = a/2 + 1/2 ends at 1
        assertThat(operations).isGreaterThan(100_000);
    }

    @Test
    void allThreadsOfACrewWork() {
        Set<Integer> seen = ConcurrentHashMap.newKeySet();
        double rate = Crew.perSecond(3, MILLISECOND, thread -> {
            seen.add(thread);
            return 1;
        });

        assertThat(seen).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(rate).isPositive().isFinite();
    }

    @Test
    void aPassThatFailsEndsTheMeasurement() {
        assertThatThrownBy(() -> Crew.perSecond(2, MILLISECOND, thread -> {
                    throw new UnsupportedOperationException("pass");
                }))
                .hasRootCauseMessage("pass");
    }

    @Test
    void limitsArePositive() {
        try (Roofline roofline = new Roofline(new StreamingRead(BYTES), MILLISECOND)) {
            Limits limits = roofline.measure(2);

            assertThat(limits.threads()).isEqualTo(2);
            assertThat(limits.readBytesPerSecond()).isPositive().isFinite();
            assertThat(limits.operationsPerSecond()).isPositive().isFinite();
        }
    }

    /** A loop that the compiler has only while it runs makes an object of each vector: a twentieth of the bandwidth. */
    @Test
    void aWarmUpCallsTheReadingLoopOftenEnoughToBeCompiled() {
        try (StreamingRead memory = new StreamingRead()) {
            assertThat((Roofline.SETTLED + 1) * memory.blocks()).isGreaterThan(600);
        }
    }

    @Test
    void readingAndComputingOverlap() {
        Limits limits = new Limits(1, 100, 10);

        assertThat(limits.seconds(200, 5)).isEqualTo(2);
        assertThat(limits.seconds(200, 50)).isEqualTo(5);
    }

    @Test
    void lastLevelCachesAreCountedOnceEach(@TempDir Path cpus) throws IOException {
        for (int cpu = 0; cpu < 4; cpu++) {
            cache(cpus, cpu, 0, 1, "32K", Integer.toString(cpu));
            cache(cpus, cpu, 1, 2, "1024K", Integer.toString(cpu));
            cache(cpus, cpu, 2, 3, "16M", cpu < 2 ? "0-1" : "2-3");
        }

        assertThat(CpuCaches.lastLevelBytes(cpus)).isEqualTo(32L << 20);
    }

    @Test
    void unknownCachesAreAssumedToBeLarge(@TempDir Path cpus) throws IOException {
        assertThat(CpuCaches.lastLevelBytes(cpus)).isEqualTo(64L << 20);
        cache(cpus, 0, 0, 1, "huge", "0");
        assertThat(CpuCaches.lastLevelBytes(cpus)).isEqualTo(64L << 20);
        assertThat(CpuCaches.lastLevelBytes(cpus.resolve("missing"))).isEqualTo(64L << 20);
    }

    private static void cache(Path cpus, int cpu, int index, int level, String size, String shared) throws IOException {
        Path cache = Files.createDirectories(
                cpus.resolve("cpu" + cpu).resolve("cache").resolve("index" + index));
        Files.writeString(cache.resolve("level"), level + "\n");
        Files.writeString(cache.resolve("size"), size + "\n");
        Files.writeString(cache.resolve("shared_cpu_list"), shared + "\n");
    }
}
