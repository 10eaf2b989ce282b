package io.github.tornadotransformers.runner.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class SlowNoticeTest {
    private final List<String> said = new CopyOnWriteArrayList<>();

    @Test
    void whatIsQuickIsNotSpokenOf() {
        try (SlowNotice _ = SlowNotice.after(Duration.ofHours(1), said::add, () -> "loading")) {
            assertThat(said).isEmpty();
        }
        assertThat(said).isEmpty();
    }

    @Test
    void whatTakesLongIsSaidOnce() throws InterruptedException {
        CountDownLatch spoken = new CountDownLatch(1);
        try (SlowNotice _ = SlowNotice.after(
                Duration.ofMillis(1),
                line -> {
                    said.add(line);
                    spoken.countDown();
                },
                () -> "loading")) {
            spoken.await();
        }
        assertThat(said).containsExactly("loading");
    }
}
