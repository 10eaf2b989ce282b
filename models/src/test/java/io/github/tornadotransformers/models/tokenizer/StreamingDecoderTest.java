package io.github.tornadotransformers.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamingDecoderTest {
    @TempDir
    Path folder;

    @Test
    void aCharacterOfSeveralPiecesComesWhole() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteLevel(folder));
        assertThat(stream(tokenizer, tokenizer.encode("a🦙b"))).containsExactly("a", "", "🦙", "b", "");
    }

    @Test
    void aCharacterThatNeverEndsComesAsReplacementAtTheEnd() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteLevel(folder));
        int[] ids = tokenizer.encode("a🦙");
        assertThat(stream(tokenizer, Arrays.copyOf(ids, ids.length - 1))).containsExactly("a", "", "\uFFFD");
    }

    @Test
    void aRunOfBytesComesWhenItIsOver() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteFallback(folder));
        assertThat(stream(tokenizer, tokenizer.encode("a🦙b"))).containsExactly("", "a", "", "", "", "", "🦙b", "");
    }

    @Test
    void theFirstSpaceAfterAPromptIsKept() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteFallback(folder));
        StreamingDecoder decoder = tokenizer.decoder(tokenizer.encodePrompt("hello"));
        assertEquals(" wor", decoder.push(tokenizer.encode("wor")[0]));
    }

    @Test
    void theTextOfThePromptIsNotShownAgain() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteFallback(folder));
        StreamingDecoder decoder = tokenizer.decoder(tokenizer.encode("hello 🦙"));
        assertEquals("", decoder.finish());
        assertEquals(" wor", decoder.push(tokenizer.encode("wor")[0]));
    }

    @Test
    void aCharacterThatThePromptBeginsIsShownWhenItIsWhole() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteLevel(folder));
        int[] ids = tokenizer.encode("a🦙");
        StreamingDecoder decoder = tokenizer.decoder(Arrays.copyOf(ids, ids.length - 1));
        assertEquals("🦙", decoder.push(ids[ids.length - 1]));
    }

    @Test
    void specialTokensAreNotShown() {
        Tokenizer tokenizer = Tokenizer.load(TestTokenizers.byteFallback(folder));
        assertThat(stream(tokenizer, new int[] {1, 2})).containsExactly("", "", "");
    }

    @Test
    void piecesTogetherAreTheDecodedTextByteLevel() {
        checkRandomIds(Tokenizer.load(TestTokenizers.byteLevel(folder)));
    }

    @Test
    void piecesTogetherAreTheDecodedTextByteFallback() {
        checkRandomIds(Tokenizer.load(TestTokenizers.byteFallback(folder)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tokenizers/gpt2",
                "tokenizers/llama2",
                "tokenizers/llama3",
                "models/stories260K",
                "models/tiny-random-gpt2"
            })
    void piecesTogetherAreTheDecodedText(String path) {
        checkRandomIds(Tokenizer.load(SharedData.require(path)));
    }

    /** Texts that make sense, random ids from all of the vocabulary, and ids near its beginning, where the bytes are. */
    private static void checkRandomIds(Tokenizer tokenizer) {
        RandomData random = new RandomData(1);
        for (int round = 0; round < 60; round++) {
            int bound = round % 2 == 0 ? tokenizer.vocabSize() + 3 : Math.min(300, tokenizer.vocabSize());
            int[] ids = random.ints(random.between(1, 90), bound);
            assertSameText(tokenizer, ids);
        }
        assertSameText(
                tokenizer, tokenizer.encodePrompt("né  🦙🦙\n\n 👩‍❤‍💋‍👨 \uFFFD\uFFFD កាន់ 我想在 ' s. !".repeat(20)));
    }

    private static void assertSameText(Tokenizer tokenizer, int[] ids) {
        List<String> pieces = stream(tokenizer, ids);
        assertEquals(tokenizer.decode(ids), String.join("", pieces), () -> Arrays.toString(ids));
        assertThat(pieces)
                .allSatisfy(piece -> assertThat(piece.isEmpty()
                                || (!Character.isLowSurrogate(piece.charAt(0))
                                        && !Character.isHighSurrogate(piece.charAt(piece.length() - 1))))
                        .isTrue());
    }

    private static List<String> stream(Tokenizer tokenizer, int[] ids) {
        StreamingDecoder decoder = tokenizer.decoder();
        List<String> pieces = new ArrayList<>();
        for (int id : ids) {
            pieces.add(decoder.push(id));
        }
        pieces.add(decoder.finish());
        return pieces;
    }
}
