package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class ThreadTeamTest {
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
