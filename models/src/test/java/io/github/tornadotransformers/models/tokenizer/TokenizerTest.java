package io.github.tornadotransformers.models.tokenizer;

import static io.github.tornadotransformers.testsupport.TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE;
import static io.github.tornadotransformers.testsupport.TestTokenizers.BYTE_LEVEL_VOCAB_SIZE;
import static io.github.tornadotransformers.testsupport.TestTokenizers.END_OF_TEXT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenizerTest {
    private static final String LLAMA = "🦙";

    @TempDir
    Path folder;

    private Tokenizer byteLevel;
    private Tokenizer byteFallback;

    @BeforeEach
    void load() throws IOException {
        byteLevel = Tokenizer.load(TestTokenizers.byteLevel(Files.createDirectory(folder.resolve("byte level, é"))));
        byteFallback = Tokenizer.load(TestTokenizers.byteFallback(Files.createDirectory(folder.resolve("fallback"))));
    }

    @Test
    void mergesAreAppliedInTheirOrder() {
        assertThat(byteLevel.pieces(byteLevel.encode("hello world"))).containsExactly("hello", "Ġwor", "l", "d");
    }

    @Test
    void aWordOfTheSecondKindBeginsWithASpace() {
        assertThat(byteFallback.pieces(byteFallback.encode("hello world"))).containsExactly("▁hello", "▁wor", "l", "d");
    }

    @Test
    void anUnknownCharacterFallsBackToItsBytes() {
        assertThat(byteFallback.pieces(byteFallback.encode(LLAMA)))
                .containsExactly("▁", "<0xF0>", "<0x9F>", "<0xA6>", "<0x99>");
    }

    @Test
    void aPieceMayEndWithinACharacter() {
        assertThat(byteLevel.pieces(byteLevel.encode(LLAMA))).containsExactly("ðŁ¦", "Ļ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "hello", " hello", "a  b ", "\n\t\r\n", "né", LLAMA, "\0", "hell" + LLAMA + "o"})
    void textComesBackFromItsIds(String text) {
        assertEquals(text, byteLevel.decode(byteLevel.encode(text)));
        assertEquals(text, byteFallback.decode(byteFallback.encode(text)));
        assertThat(byteLevel.roundTripNotice(text)).isEmpty();
        assertThat(byteFallback.roundTripNotice(text)).isEmpty();
    }

    @Test
    void aTextThatDoesNotComeBackIsANotice() {
        assertThat(byteFallback.roundTripNotice("hello ▁"))
                .hasValue("the tokenizer changes the text at character 6: \"▁\" comes back as \" \"");
    }

    @Test
    void anUnpairedSurrogateIsReplacedAndNoticed() {
        assertEquals("a\uFFFDb\uFFFD", byteLevel.decode(byteLevel.encode("a\uD83Eb\uDD99")));
        assertThat(byteLevel.roundTripNotice("a\uD83E"))
                .hasValue("the tokenizer changes the text at character 1: \"\\ud83e\" comes back as \"\uFFFD\"");
    }

    @Test
    void specialTokensInATextArePlainText() {
        assertThat(byteLevel.encode(END_OF_TEXT)).hasSize(END_OF_TEXT.length());
        assertThat(byteFallback.encode("<s></s>")).doesNotContain(1, 2);
        assertThat(byteFallback.roundTripNotice("<s></s>")).isEmpty();
    }

    @Test
    void truncationAndDropoutOfTheFileAreSwitchedOff() {
        List<String> pieces = byteFallback.pieces(byteFallback.encode("hello hello hello hello hello hello hello"));
        assertThat(pieces).hasSize(7).containsOnly("▁hello");
    }

    @Test
    void thePromptGetsTheStartTokenOfTheTemplateAndNoEndToken() {
        assertThat(byteFallback.encodePrompt("hello"))
                .startsWith(1)
                .doesNotContain(2)
                .hasSize(2);
        assertThat(byteFallback.encodePrompt("")).containsExactly(1);
    }

    @Test
    void thePromptGetsNothingWhereTheFileHasNoTemplate() {
        assertThat(byteLevel.encodePrompt("hello")).containsExactly(byteLevel.encode("hello"));
        assertThat(byteLevel.encodePrompt("")).isEmpty();
    }

    @Test
    void theConfigMayAskForNoStartToken() throws IOException {
        Path config = folder.resolve("fallback/tokenizer_config.json");
        Files.writeString(config, "{\"add_bos_token\": false, \"bos_token\": \"<s>\"}");
        assertThat(Tokenizer.load(config.getParent()).encodePrompt("hello")).doesNotContain(1);
    }

    @Test
    void theConfigMayAskForAStartTokenThatTheFileDoesNotAdd() throws IOException {
        Path config = folder.resolve("byte level, é/tokenizer_config.json");
        Files.writeString(config, "{\"add_bos_token\": true, \"bos_token\": {\"content\": \"" + END_OF_TEXT + "\"}}");
        assertThat(Tokenizer.load(config.getParent()).encodePrompt("a")).startsWith(BYTE_LEVEL_VOCAB_SIZE - 1);
    }

    @Test
    void anEmptyPromptStartsFromTheStartTokenElseFromTheEndToken() throws IOException {
        assertEquals(OptionalInt.of(1), byteFallback.startToken());
        assertEquals(OptionalInt.empty(), byteLevel.startToken());
        Path config = folder.resolve("byte level, é/tokenizer_config.json");
        Files.writeString(config, "{\"eos_token\": \"" + END_OF_TEXT + "\"}");
        assertEquals(
                OptionalInt.of(BYTE_LEVEL_VOCAB_SIZE - 1),
                Tokenizer.load(config.getParent()).startToken());
    }

    @Test
    void specialTokensAreLeftOut() {
        int[] ids = byteFallback.encodePrompt("hello");
        assertEquals("hello", byteFallback.decode(ids));
        assertEquals("<s>", byteFallback.pieces(ids).getFirst());
    }

    @Test
    void anIdWithoutAPieceHasNoText() {
        assertEquals("h", byteLevel.decode(new int[] {100_000, 'h', -1}));
        assertThat(byteLevel.pieces(new int[] {100_000, -1})).containsExactly("", "");
    }

    @Test
    void theVocabularyIsCountedWithSpecialTokens() {
        assertEquals(BYTE_LEVEL_VOCAB_SIZE, byteLevel.vocabSize());
        assertEquals(BYTE_LEVEL_VOCAB_SIZE - 1, byteLevel.maxId());
        assertEquals(BYTE_FALLBACK_VOCAB_SIZE, byteFallback.vocabSize());
    }

    @Test
    void everyPieceIsFoundByItsText() {
        assertEquals(OptionalInt.of(BYTE_LEVEL_VOCAB_SIZE - 1), byteLevel.id(END_OF_TEXT));
        assertEquals(OptionalInt.empty(), byteLevel.id("no piece"));
    }

    @Test
    void vocabAndMergesMeanTheSameAsOneFile() throws IOException {
        Path two = Files.createDirectory(folder.resolve("two files"));
        Tokenizer same = Tokenizer.load(TestTokenizers.byteLevelAsVocabAndMerges(two));
        String text = "hello world, hell" + LLAMA + " it's 1 " + END_OF_TEXT + "\n\n é";
        assertThat(same.encodePrompt(text)).containsExactly(byteLevel.encode(text));
        assertEquals(text, same.decode(same.encode(text)));
        assertThat(same.isSpecial(BYTE_LEVEL_VOCAB_SIZE - 1)).isTrue();
        assertEquals(OptionalInt.of(BYTE_LEVEL_VOCAB_SIZE - 1), same.startToken());
    }

    @Test
    void addedTokensBesideVocabAndMergesAreFoundInTextUnlessSpecial() throws IOException {
        Path two = TestTokenizers.byteLevelAsVocabAndMerges(Files.createDirectory(folder.resolve("added")));
        int first = BYTE_LEVEL_VOCAB_SIZE;
        Files.writeString(
                two.resolve("added_tokens.json"), "{\"<plain>\": " + (first + 1) + ", \"<pad>\": " + first + "}");
        Files.writeString(two.resolve("special_tokens_map.json"), "{\"pad_token\": \"<pad>\"}");
        Tokenizer tokenizer = Tokenizer.load(two);
        assertThat(tokenizer.encode("<plain>")).containsExactly(first + 1);
        assertThat(tokenizer.encode("<pad>")).doesNotContain(first);
        assertEquals("<plain>", tokenizer.decode(new int[] {first, first + 1}));
    }

    @Test
    void addedTokensKeepTheirIdsWhateverTheirOrder() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        int first = BYTE_LEVEL_VOCAB_SIZE;
        for (int id : new int[] {first + 40, first, first + 7}) {
            json.withArray("added_tokens")
                    .addObject()
                    .put("id", id)
                    .put("content", "[" + id + "]")
                    .put("special", id == first + 7)
                    .put("single_word", false)
                    .put("lstrip", false)
                    .put("rstrip", false)
                    .put("normalized", false);
        }
        Files.writeString(folder.resolve("tokenizer.json"), json.toString());
        Tokenizer tokenizer = Tokenizer.load(folder);
        assertThat(tokenizer.encode("[" + first + "][" + (first + 40) + "]")).containsExactly(first, first + 40);
        assertThat(tokenizer.encode("[" + (first + 7) + "]")).doesNotContain(first + 7);
        assertThat(tokenizer.pieces(new int[] {first + 7})).containsExactly("[" + (first + 7) + "]");
        assertEquals(first + 40, tokenizer.maxId());
        assertEquals(BYTE_LEVEL_VOCAB_SIZE + 3, tokenizer.vocabSize());
    }

    @Test
    void addedTokensNeedNotBeThere() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.remove("added_tokens");
        Files.writeString(folder.resolve("tokenizer.json"), json.toString());
        assertThat(Tokenizer.load(folder).pieces(new int[] {BYTE_LEVEL_VOCAB_SIZE - 1}))
                .containsExactly(END_OF_TEXT);
    }

    @Test
    void severalThreadsMayUseOneTokenizer() {
        int[] expected = byteFallback.encode("hello wor" + LLAMA);
        assertThat(IntStream.range(0, 2000).parallel().mapToObj(_ -> byteFallback.encode("hello wor" + LLAMA)))
                .allSatisfy(ids -> assertThat(ids).containsExactly(expected));
    }

    @Test
    void aTrainedModelsPromptIsTheReferences() {
        Tokenizer stories = Tokenizer.load(SharedData.require("models/stories260K"));
        assertThat(stories.encodePrompt("Once upon a time")).containsExactly(1, 403, 407, 261, 378);
    }
}
