package io.github.tornadotransformers.runner.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What reaches a terminal moves no cursor. */
class VisibleControlsTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    static Stream<Arguments> texts() {
        return Stream.of(
                Arguments.of("plain, with\ttab\nand newline\n", "plain, with\ttab\nand newline\n"),
                Arguments.of("\u001b[2J", "\\u001b[2J"),
                Arguments.of("bell\u0007 back\b return\r nul\0", "bell\\u0007 back\\u0008 return\\u000d nul\\u0000"),
                Arguments.of("delete\u007f", "delete\\u007f"),
                Arguments.of("\u009b2J\u0080\u009f", "\\u009b2J\\u0080\\u009f"),
                Arguments.of("\u00a0é£ 漢字 👩‍👩‍👧", "\u00a0é£ 漢字 👩‍👩‍👧"));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void controlsAreShown(String text, String shown) {
        ResultStream.onTerminal(bytes).print(text);
        assertThat(text(bytes)).isEqualTo(shown);
    }

    @ParameterizedTest
    @MethodSource("texts")
    void pipesKeepTheBytes(String text, String shown) {
        new ResultStream(bytes).print(text);
        assertThat(text(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @MethodSource("texts")
    void messagesShowThem(String text, String shown) {
        Messages.to(bytes).println(text);
        assertThat(text(bytes)).isEqualTo(shown + "\n");
    }

    @Test
    void everyCharacterOfOneUnitThatIsNoControlStaysItself() {
        StringBuilder all = new StringBuilder();
        for (char each = 0; each < Character.MIN_SURROGATE; each++) {
            if (!Character.isISOControl(each)) {
                all.append(each);
            }
        }
        ResultStream.onTerminal(bytes).print(all.toString());
        assertThat(text(bytes)).isEqualTo(all.toString());
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
