package io.github.tornadotransformers.taskgraphs.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is written while an output is held is seen by its holders, and what is not theirs comes out as if it had not been held. */
class HeldOutputTest {
    private Descriptors descriptors;
    private int output;
    private int sink;

    @BeforeEach
    void open() throws IOException {
        assumeTrue(Descriptors.areAvailable(), "descriptors are replaced on Linux alone");
        descriptors = new Descriptors();
        sink = descriptors.createInMemory();
        output = descriptors.duplicate(sink);
    }

    @AfterEach
    void close() throws IOException {
        if (descriptors != null) {
            descriptors.close(output);
            descriptors.close(sink);
        }
    }

    private HeldOutput held() throws IOException {
        return new HeldOutput(output, written -> written.replace("mine\n", ""));
    }

    private void print(String text) throws IOException {
        descriptors.write(output, text.getBytes(StandardCharsets.UTF_8));
    }

    private String cameOut() {
        try {
            return new String(descriptors.read(sink, 0, descriptors.size(sink)), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void comesOutInOrderWithoutWhatIsTheHolders() throws IOException {
        HeldOutput held = held();
        print("before ");
        long start = held.hold();
        print("é…\nmine\nhalf a ");
        assertThat(cameOut()).isEqualTo("before ");
        assertThat(held.since(start)).endsWith("mine\nhalf a ");
        held.letGo(start);
        print("line\n");
        assertThat(cameOut()).isEqualTo("before é…\nhalf a line\n");
    }

    @Test
    void eachHolderSeesWhatCameSinceItBeganAlthoughOthersLetGo() throws IOException {
        HeldOutput held = held();
        long first = held.hold();
        print("one\n");
        long second = held.hold();
        print("mine\n");
        assertThat(held.letGo(second)).isEqualTo("mine\n");
        assertThat(cameOut()).isEqualTo("one\n");
        assertThat(held.since(first)).isEqualTo("one\nmine\n");
        print("two\n");
        assertThat(cameOut()).isEqualTo("one\n");
        assertThat(held.letGo(first)).isEqualTo("one\nmine\ntwo\n");
        print("three\n");
        assertThat(cameOut()).isEqualTo("one\ntwo\nthree\n");
    }

    @Test
    void holdsAgainAndAgainWithoutTheOutputOfBefore() throws IOException {
        HeldOutput held = held();
        for (int i = 0; i < 3; i++) {
            long start = held.hold();
            print("mine\n" + i + "\n");
            assertThat(held.since(start)).isEqualTo("mine\n" + i + "\n");
            held.letGo(start);
        }
        assertThat(cameOut()).isEqualTo("0\n1\n2\n");
    }

    @Test
    void mayBeHeldForNothing() throws IOException {
        HeldOutput held = held();
        for (String text : new String[] {"", "one\n", ""}) {
            long start = held.hold();
            print(text);
            assertThat(held.since(start)).isEqualTo(text);
            held.letGo(start);
        }
        assertThat(cameOut()).isEqualTo("one\n");
    }

    @Test
    void isLostByNobodyWhenTheProcessEnds() throws IOException {
        HeldOutput held = held();
        long start = held.hold();
        print("in time\n");
        held.end();
        print("late\n");
        held.letGo(start);
        held.hold();
        print("later\n");
        assertThat(cameOut()).isEqualTo("in time\nlate\nlater\n");
    }
}
