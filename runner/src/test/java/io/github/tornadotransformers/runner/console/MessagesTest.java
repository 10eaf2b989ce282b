package io.github.tornadotransformers.runner.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MessagesTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2031-02-03T04:05:06.789Z"), ZoneOffset.UTC);

    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private final Messages messages = Messages.to(shown, CLOCK);

    @TempDir
    Path folder;

    @Test
    void aLogHasEachLineBehindItsTime() throws IOException {
        Path log = folder.resolve("log");
        Files.writeString(log, "what was there\n");
        messages.println("before");
        messages.log(log);
        messages.print("half ");
        messages.println("a line");
        messages.print("two\nlines, with \u001b[2J\n");
        messages.log("of the log alone");
        String time = "2031-02-03T04:05:06.789Z ";
        assertThat(log)
                .hasContent("what was there\n" + time + "half a line\n" + time + "two\n" + time
                        + "lines, with \\u001b[2J\n" + time + "of the log alone\n");
        assertThat(shown.toString(UTF_8)).isEqualTo("before\nhalf a line\ntwo\nlines, with \\u001b[2J\n");
    }

    @Test
    void withoutALogNothingIsSaidOfIt() {
        messages.log("of the log alone");
        messages.println("shown");
        assertThat(shown.toString(UTF_8)).isEqualTo("shown\n");
    }

    /** Where a device is always full. */
    @Test
    void aFullDiskEndsTheLogAndNotTheMessages() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.isWritable(full), "no /dev/full here");
        messages.log(full);
        messages.println("first");
        messages.println("second");
        assertThat(shown.toString(UTF_8).lines())
                .containsExactly(
                        "first",
                        "the log /dev/full ends here, it cannot be written: No space left on device",
                        "second");
    }
}
