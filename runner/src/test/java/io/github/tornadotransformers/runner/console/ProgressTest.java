package io.github.tornadotransformers.runner.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.console.Progress.Unit;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private static final long SECOND = 1_000_000_000;

    private final ByteArrayOutputStream terminal = new ByteArrayOutputStream();

    @Test
    void percentRateAndTimeLeft() {
        try (Progress progress = Progress.of(StatusLine.none(), "measuring", Unit.TOKENS, 4000)) {
            progress.update(1000);
            assertThat(progress.words(40 * SECOND)).isEqualTo("measuring: 25 % of 4000 tokens, 25 tokens/s, 2:00 left");
        }
    }

    @Test
    void whatWasThereBeforeHasNoPartInTheRate() {
        try (Progress progress =
                Progress.of(StatusLine.none(), "f", Unit.BYTES, 600_000_000, OptionalLong.of(8_000_000_000L))) {
            progress.update(800_000_000);
            assertThat(progress.words(100 * SECOND)).isEqualTo("f: 10 % of 8.0 GB, 2.0 MB/s, 1:00:00 left");
        }
    }

    @Test
    void beforeAnythingIsDone() {
        try (Progress progress = Progress.of(StatusLine.none(), "reading", Unit.TOKENS, 300)) {
            assertThat(progress.words(SECOND)).isEqualTo("reading: 0 % of 300 tokens");
        }
    }

    @Test
    void withoutATotal() {
        try (Progress progress = Progress.of(StatusLine.none(), "f", Unit.BYTES, 0, OptionalLong.empty())) {
            progress.update(1500);
            assertThat(progress.words(SECOND)).isEqualTo("f: 1.5 kB, 1.5 kB/s");
        }
    }

    @Test
    void shortWorkShowsNothing() {
        try (Progress progress = Progress.of(StatusLine.on(terminal), "measuring", Unit.TOKENS, 10)) {
            progress.update(10);
        }
        assertThat(shown()).isEmpty();
    }

    @Test
    void longWorkIsShownInPlaceAndThenCleared() throws InterruptedException {
        try (Progress progress = Progress.of(StatusLine.on(terminal), "measuring", Unit.TOKENS, 10)) {
            progress.update(5);
            while (shown().isEmpty()) {
                Thread.sleep(20);
            }
        }
        assertThat(shown()).startsWith("\rmeasuring: 50 % of 10 tokens, ").endsWith("\033[K\r\033[K");
    }

    @Test
    void whatHappensWithinIsNotWrittenOver() {
        StatusLine line = StatusLine.on(terminal);
        line.show("outer");
        line.hold("inner");
        line.show("outer");
        assertThat(shown()).isEqualTo("\router\033[K\rinner\033[K");
        line.clear();
        line.show("outer");
        assertThat(shown()).endsWith("\r\033[K\router\033[K");
    }

    @Test
    void aNameIsShownAndNotObeyed() {
        StatusLine.on(terminal).show("a\u001b[2Jb");
        assertThat(shown()).isEqualTo("\ra\\u001b[2Jb\033[K");
    }

    private String shown() {
        return terminal.toString(StandardCharsets.UTF_8);
    }
}
