package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.tornadotransformers.testsupport.RandomData;
import java.util.List;
import org.junit.jupiter.api.Test;

class StopTextsTest {
    @Test
    void withoutStopTextsAllComesThroughAtOnce() {
        StopTexts texts = new StopTexts(List.of());
        assertEquals("ab", texts.push("ab"));
        assertEquals("", texts.finish());
    }

    @Test
    void thePossibleBeginningOfAStopTextWaits() {
        StopTexts texts = new StopTexts(List.of("END"));
        assertEquals("a", texts.push("aE"));
        assertEquals("", texts.push("N"));
        assertEquals("ENx", texts.push("x"));
        assertThat(texts.found()).isFalse();
    }

    @Test
    void aStopTextAndWhatFollowsIsNotShown() {
        StopTexts texts = new StopTexts(List.of("END"));
        assertEquals("a", texts.push("aEN"));
        assertEquals("", texts.push("Db"));
        assertThat(texts.found()).isTrue();
        assertEquals("", texts.push("c"));
        assertEquals("", texts.finish());
    }

    @Test
    void whatWaitedInVainIsShownAtTheEnd() {
        StopTexts texts = new StopTexts(List.of("END"));
        texts.push("aEN");
        assertEquals("EN", texts.finish());
    }

    @Test
    void theEarliestOfSeveralCuts() {
        StopTexts texts = new StopTexts(List.of("c", "bc"));
        assertEquals("a", texts.push("abc"));
    }

    @Test
    void aBeginningWithinABeginningIsFound() {
        StopTexts texts = new StopTexts(List.of("aab"));
        assertEquals("a", texts.push("aaa"));
        assertEquals("", texts.push("b"));
        assertThat(texts.found()).isTrue();
    }

    @Test
    void aSpecialTokenIsFoundAndNotShown() {
        StopTexts texts = new StopTexts(List.of("<s>"));
        assertEquals("a", texts.push("a"));
        assertEquals("", texts.pushUnseen("<s>"));
        assertThat(texts.found()).isTrue();
    }

    @Test
    void aSpecialTokenMayBePartOfAStopText() {
        StopTexts texts = new StopTexts(List.of("b<s>c"));
        assertEquals("a", texts.push("ab"));
        assertEquals("", texts.pushUnseen("<s>"));
        assertEquals("bd", texts.push("d"));
        assertEquals("", texts.push("b"));
        assertEquals("", texts.pushUnseen("<s>"));
        assertEquals("", texts.push("cd"));
        assertThat(texts.found()).isTrue();
    }

    @Test
    void whatCannotBeginAStopTextAnyMoreIsShownWhenASpecialTokenComes() {
        StopTexts texts = new StopTexts(List.of("ab", "<s>x"));
        assertEquals("", texts.push("a"));
        assertEquals("a", texts.pushUnseen("<s>"));
        assertEquals("y", texts.push("y"));
    }

    @Test
    void aSpecialTokenThatWaitedInVainIsNotShown() {
        StopTexts texts = new StopTexts(List.of("b<s>c"));
        texts.push("ab");
        texts.pushUnseen("<s>");
        assertEquals("b", texts.finish());
    }

    @Test
    void onlySpecialTokensOfAStopTextMatter() {
        StopTexts texts = new StopTexts(List.of("x", "b<s>c"));
        assertThat(texts.mention("<s>")).isTrue();
        assertThat(texts.mention("</s>")).isFalse();
    }

    /** However a text is cut into pieces, what is shown is the text up to its first stop text. */
    @Test
    void theCutDoesNotDependOnThePieces() {
        RandomData random = new RandomData(2);
        for (int round = 0; round < 2000; round++) {
            String text = letters(random, random.between(0, 12));
            StopTexts texts = new StopTexts(
                    List.of(letters(random, random.between(1, 3)), letters(random, random.between(1, 4))));
            StringBuilder shown = new StringBuilder();
            for (int from = 0; from < text.length() && !texts.found(); ) {
                int to = random.between(from + 1, text.length());
                shown.append(texts.push(text.substring(from, to)));
                from = to;
            }
            shown.append(texts.finish());
            if (texts.found()) {
                assertThat(text).startsWith(shown).isNotEqualTo(shown.toString());
            } else {
                assertEquals(text, shown.toString());
            }
        }
    }

    private static String letters(RandomData random, int count) {
        StringBuilder letters = new StringBuilder();
        for (int letter : random.ints(count, 2)) {
            letters.append((char) ('a' + letter));
        }
        return letters.toString();
    }
}
