package io.github.tornadotransformers.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every broken folder gets one line that names the file. */
class TokenizerErrorsTest {
    private static final String LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";

    @TempDir
    Path folder;

    @Test
    void anEmptyFolderHasNoTokenizer() {
        assertThat(Tokenizer.existsIn(folder)).isFalse();
        assertThat(Tokenizer.loadIfPresent(folder)).isEmpty();
        assertThat(failure())
                .isEqualTo(folder + " has no tokenizer: expected tokenizer.json, or vocab.json and merges.txt");
    }

    @Test
    void vocabWithoutMergesIsNoTokenizer() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        Files.delete(folder.resolve("merges.txt"));
        assertThat(failure()).contains("has no tokenizer");
    }

    @Test
    void aGitLfsPointerIsNamedAsSuch() throws IOException {
        assertThat(failureWith("tokenizer.json", LFS)).startsWith(file("tokenizer.json") + " is a Git LFS pointer");
    }

    @Test
    void aGitLfsPointerInPlaceOfMergesIsNamedAsSuch() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        assertThat(failureWith("merges.txt", LFS)).startsWith(file("merges.txt") + " is a Git LFS pointer");
    }

    @Test
    void textThatIsNoJson() throws IOException {
        assertThat(failureWith("tokenizer.json", "{\"model\": "))
                .startsWith(file("tokenizer.json") + " is not valid JSON at line 1, column ");
    }

    @Test
    void anEmptyFile() throws IOException {
        assertThat(failureWith("tokenizer.json", "")).isEqualTo(file("tokenizer.json") + " is not a JSON object");
    }

    @Test
    void bytesThatAreNoUtf8() throws IOException {
        Files.write(folder.resolve("tokenizer.json"), new byte[] {'{', (byte) 0xFF, '}'});
        assertThat(failure()).isEqualTo(file("tokenizer.json") + " is not UTF-8 text");
    }

    @Test
    void aVocabThatIsNoJson() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        assertThat(failureWith("vocab.json", "{\"a\": 0, "))
                .startsWith(file("vocab.json") + " is not valid JSON at line 1, column ");
    }

    @Test
    void aVocabThatIsAnArray() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        assertThat(failureWith("vocab.json", "[]")).isEqualTo(file("vocab.json") + " is not a JSON object");
    }

    @Test
    void aVocabThatGoesOnBehindItsObject() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        assertThat(failureWith("vocab.json", "{} {\"a\": 0}"))
                .isEqualTo(file("vocab.json") + " goes on behind its JSON object, with \"{\"");
    }

    @Test
    void aMergeThatIsNoPair() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        assertThat(failureWith("merges.txt", "#version: 0.2\nh e\na b c\n"))
                .isEqualTo(file("merges.txt") + ", line 3, is \"a b c\", expected two pieces with a space between");
    }

    @Test
    void aMergeWhosePieceTheVocabLacks() throws IOException {
        TestTokenizers.byteLevelAsVocabAndMerges(folder);
        assertThat(failureWith("merges.txt", "x y\n"))
                .isEqualTo(file("vocab.json") + " with merges.txt is no valid tokenizer: Token `xy` out of vocabulary");
    }

    @Test
    void aMergeWhosePieceTheFileLacks() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.withObject("model").withArray("merges").addArray().add("x").add("y");
        assertThat(failureWith("tokenizer.json", json.toString()))
                .isEqualTo(file("tokenizer.json") + " is no valid tokenizer: Token `xy` out of vocabulary");
    }

    @Test
    void anotherKindOfModelIsRefusedByName() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.withObject("model").put("type", "Unigram").putArray("vocab");
        assertThat(failureWith("tokenizer.json", json.toString()))
                .isEqualTo(file("tokenizer.json")
                        + ": model.type is \"Unigram\", expected \"BPE\", the kind that GPT-2 and Llama use");
    }

    @Test
    void anObjectWithoutAModel() throws IOException {
        assertThat(failureWith("tokenizer.json", "{}")).isEqualTo(file("tokenizer.json") + " has no model.vocab");
    }

    @Test
    void anIdThatIsNoNumber() throws IOException {
        assertThat(failureWithVocab("\"x\"")).contains("the id of \"new\" is x, expected a number from 0");
    }

    @Test
    void anIdBelowZero() throws IOException {
        assertThat(failureWithVocab("-1")).contains("the id of \"new\" is -1");
    }

    @Test
    void anIdThatIsAFraction() throws IOException {
        assertThat(failureWithVocab("1.5")).contains("the id of \"new\" is 1.5");
    }

    @Test
    void anIdThatWouldNeedHugeArrays() throws IOException {
        assertThat(failureWithVocab("2147483647")).contains(" pieces and id 2147483647");
    }

    @Test
    void anIdThatTwoPiecesHave() throws IOException {
        assertThat(failureWithVocab("0")).contains(" gives id 0 to \"new\" and to \"Ā\"");
    }

    @Test
    void anAddedTokenWithoutAnId() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.withArray("added_tokens").addObject().put("content", "x");
        assertThat(failureWith("tokenizer.json", json.toString()))
                .isEqualTo(file("tokenizer.json") + ": an entry of added_tokens has no id or no content");
    }

    @Test
    void anUnknownTokenThatTheVocabularyLacks() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.putNull("pre_tokenizer");
        json.withObject("model").put("unk_token", "<unknown>");
        Files.writeString(folder.resolve("tokenizer.json"), json.toString());
        assertThat(messageOf(() -> Tokenizer.load(folder).encode("語")))
                .startsWith(file("tokenizer.json") + " is no valid tokenizer: ");
    }

    @Test
    void aPatternThatIsNone() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.putObject("pre_tokenizer")
                .put("type", "Split")
                .put("behavior", "Isolated")
                .put("invert", false)
                .putObject("pattern")
                .put("Regex", "(");
        assertThat(failureWith("tokenizer.json", json.toString())).startsWith(file("tokenizer.json"));
    }

    @Test
    void aTemplateWithATokenThatItDoesNotExplain() throws IOException {
        ObjectNode json = TestTokenizers.byteFallbackJson();
        json.withObject("post_processor").withObject("special_tokens").remove("<s>");
        assertThat(failureWith("tokenizer.json", json.toString()))
                .isEqualTo(file("tokenizer.json")
                        + ": the template of post_processor has \"<s>\", which its special_tokens lack");
    }

    @Test
    void aTemplateWithoutAPlaceForTheText() throws IOException {
        ObjectNode json = TestTokenizers.byteFallbackJson();
        json.withObject("post_processor").withArray("single").remove(1);
        assertThat(failureWith("tokenizer.json", json.toString()))
                .isEqualTo(file("tokenizer.json") + ": the template of post_processor has no place for the text");
    }

    /** Each of these would end the process, were it handed on. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "normalizer    | {'type': 'Precompiled'}              | normalizer.type is 'Precompiled'",
                "normalizer    | {'type': 'Prepend', 'prepend': ''}   | normalizer.prepend is empty",
                "normalizer    | {'type': 'Replace', 'pattern': {'Regex': 'a*'}, 'content': 'x'} | expression 'a*'",
                "normalizer    | {'type': 'Sequence', 'normalizers': [{'type': 'Nmt'}]} | normalizer.type is 'Nmt'",
                "pre_tokenizer | {'type': 'FixedLength', 'length': 0} | pre_tokenizer.type is 'FixedLength'",
                "decoder       | {'type': 'Fuse', 'x': '\\ud800'}     | cannot read '\\ud800' in decoder",
                "decoder       | {'type': 'Fuse', 'x': 1e999}         | in decoder",
                "decoder       | 'Fuse'                               | decoder.type is ''",
                "decoder       | {'type': 'Strip', 'content': 'a', 'start': 1, 'stop': 5} | decoder.stop is 5, expected 0",
                "decoder       | {'type': 'Sequence', 'decoders': [{'type': 'Fuse'}, {'type': 'Strip', 'content': ' ', 'start': 0, 'stop': 1}]} | decoder.stop is 1",
                "post_processor| {'type': 'Odd'}                      | post_processor.type is 'Odd'",
            })
    void aStageThatTheLibraryWouldNotSurvive(String field, String stage, String words) throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.remove(field);
        String text = json.toString();
        String with = text.substring(0, text.length() - 1) + ",\"" + field + "\":" + stage.replace('\'', '"') + "}";
        assertThat(failureWith("tokenizer.json", with)).contains(words.replace('\'', '"'));
    }

    @ParameterizedTest
    @CsvSource({"##", "####", "é"})
    void aPrefixOfPiecesThatTheLibraryWouldNotSurvive(String prefix) throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.withObject("model").put("continuing_subword_prefix", prefix);
        assertThat(failureWith("tokenizer.json", json.toString()))
                .isEqualTo(file("tokenizer.json") + ": model.continuing_subword_prefix is \"" + prefix
                        + "\", which is not implemented");
    }

    @Test
    void noPrefixOfPiecesMayBeSpelledOut() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.withObject("model").put("continuing_subword_prefix", "");
        Files.writeString(folder.resolve("tokenizer.json"), json.toString());
        assertThat(Tokenizer.load(folder).encode("hello")).hasSize(1);
    }

    @Test
    void aStageNestedWithoutEnd() throws IOException {
        String deep = "[".repeat(200) + "]".repeat(200);
        String json = TestTokenizers.byteLevelJson().toString();
        String with = json.replace("\"decoder\":{", "\"decoder\":{\"x\":" + deep + ",");
        assertThat(failureWith("tokenizer.json", with)).contains("the tokenizer library cannot read");
    }

    @Test
    void aBrokenConfigBesideASoundTokenizer() throws IOException {
        TestTokenizers.byteLevel(folder);
        assertThat(failureWith("tokenizer_config.json", "{,}"))
                .startsWith(file("tokenizer_config.json") + " is not valid JSON");
    }

    private String failureWithVocab(String id) throws IOException {
        String json = TestTokenizers.byteLevelJson().toString();
        return failureWith("tokenizer.json", json.replace("\"vocab\":{", "\"vocab\":{\"new\":" + id + ","));
    }

    private String failureWith(String name, String contents) throws IOException {
        Files.writeString(folder.resolve(name), contents);
        return failure();
    }

    private String failure() {
        return messageOf(() -> Tokenizer.load(folder));
    }

    private static String messageOf(Executable failing) {
        String message = assertThrows(CheckpointException.class, failing).getMessage();
        assertThat(message).doesNotContain("\n");
        return message;
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }
}
