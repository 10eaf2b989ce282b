package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class ThreadTeamTest {
    private static final int SECONDS = 60;

    @Test
    void everyPartOfEveryRegionRunsOnce() throws InterruptedException {
        try (ThreadTeam team = new ThreadTeam(4)) {
            for (int region = 0; region < 20_000; region++) {
                int parts = 1 + region % 13;
                AtomicIntegerArray runs = new AtomicIntegerArray(parts);
                team.run(parts, (worker, part) -> runs.incrementAndGet(part));
                for (int part = 0; part < parts; part++) {
                    assertThat(runs.get(part))
                            .as("region %d part %d", region, part)
                            .isOne();
                }
                if (region % 5_000 == 0) {
                    Thread.sleep(20);
                }
            }
        }
    }

    @Test
    void eachThreadBeginsWithItsShare() {
        try (ThreadTeam team = new ThreadTeam(3)) {
            for (int parts : new int[] {3, 8, 30}) {
                CyclicBarrier begun = new CyclicBarrier(3);
                List<Integer> firsts = List.of(0, parts / 3, 2 * parts / 3);
                int[] workers = new int[parts];
                team.run(parts, (worker, part) -> {
                    workers[part] = worker;
                    if (firsts.contains(part)) {
                        await(begun);
                    }
                });
                assertThat(firsts.stream().map(first -> workers[first]))
                        .as("%d parts", parts)
                        .containsExactly(0, 1, 2);
            }
        }
    }

    @Test
    void aThreadTakesWhatAnotherHasLeft() {
        try (ThreadTeam team = new ThreadTeam(2)) {
            int parts = 10;
            CyclicBarrier begun = new CyclicBarrier(2);
            CountDownLatch others = new CountDownLatch(parts - 1);
            int[] workers = new int[parts];
            team.run(parts, (worker, part) -> {
                workers[part] = worker;
                if (part % (parts / 2) == 0) {
                    await(begun);
                }
                if (part == 0) {
                    await(others);
                }
                others.countDown();
            });
            assertThat(workers).containsExactly(0, 1, 1, 1, 1, 1, 1, 1, 1, 1);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatAPartThrowsReachesTheCaller() {
        try (ThreadTeam team = new ThreadTeam(2)) {
            assertThatThrownBy(() -> team.run(8, (worker, part) -> {
                        if (part == 7) {
                            throw new IllegalStateException("part 7");
                        }
                    }))
                    .hasMessage("part 7");
            team.run(2, (worker, part) -> {});
        }
    }
}
