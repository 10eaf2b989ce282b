package io.github.tornadotransformers.models.tokenizer;

import static io.github.tornadotransformers.testsupport.TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE;
import static io.github.tornadotransformers.testsupport.TestTokenizers.BYTE_LEVEL_VOCAB_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the files beside a tokenizer's change. The ids are those of Hugging Face's AutoTokenizer (transformers 5.18, tokenizers
 * 0.23) on the same files, with special tokens in a text as plain text.
 */
class TokenizerConfigTest {
    private static final String CONFIG = "tokenizer_config.json";
    private static final String TEXT = "world hello";
    private static final int[] WITH_SPACE = {262, 108, 100, 32, 259};
    private static final int[] WITHOUT_SPACE = {119, 261, 108, 100, 32, 259};

    @TempDir
    private Path folder;

    /** The forms that a test tokenizer comes in. */
    enum Form {
        BYTE_LEVEL,
        BYTE_LEVEL_WITH_SPACE,
        DIGITS_AND_BYTE_LEVEL,
        TWO_FILES,
        PREPEND,
        METASPACE,
        METASPACE_WITHOUT_SPACE
    }

    @ParameterizedTest
    @CsvSource({
        "BYTE_LEVEL,            GPT2Tokenizer,     true,  true",
        "BYTE_LEVEL,            GPT2TokenizerFast, false, false",
        "BYTE_LEVEL,            GPT2Tokenizer,     null,  false",
        "BYTE_LEVEL,            ,                  true,  true",
        "BYTE_LEVEL_WITH_SPACE, GPT2Tokenizer,     true,  true",
        "BYTE_LEVEL_WITH_SPACE, GPT2Tokenizer,     false, false",
        "BYTE_LEVEL_WITH_SPACE, GPT2Tokenizer,     null,  false",
        "BYTE_LEVEL_WITH_SPACE, PreTrainedTokenizerFast, null, true",
        "BYTE_LEVEL,            PreTrainedTokenizerFast, null, false",
        "BYTE_LEVEL,            PreTrainedTokenizerFast, false, false",
        "DIGITS_AND_BYTE_LEVEL, GPT2Tokenizer,     false, false",
        "TWO_FILES,             GPT2Tokenizer,     true,  true",
        "TWO_FILES,             GPT2Tokenizer,     false, false",
        "TWO_FILES,             ,                  true,  true",
    })
    void aByteLevelTokenizerAddsTheSpaceThatItsConfigSays(Form form, String tokenizerClass, String said, boolean space)
            throws IOException {
        Tokenizer tokenizer = load(form, config(tokenizerClass, said));
        assertThat(tokenizer.encode(TEXT)).containsExactly(space ? WITH_SPACE : WITHOUT_SPACE);
        assertEquals((space ? " " : "") + TEXT, tokenizer.decode(tokenizer.encode(TEXT)));
    }

    @ParameterizedTest
    @CsvSource({
        "PREPEND,                 LlamaTokenizer,          true,  294 272 264 291",
        "PREPEND,                 LlamaTokenizerFast,      null,  294 272 264 291",
        "PREPEND,                 LlamaTokenizer,          false, 283 293 272 264 291",
        "METASPACE,               LlamaTokenizer,          false, 283 293 272 264 291",
        "METASPACE,               LlamaTokenizer,          true,  294 272 264 291",
        "METASPACE_WITHOUT_SPACE, LlamaTokenizer,          false, 283 293 272 264 291",
        "PREPEND,                 PreTrainedTokenizerFast, false, 294 272 264 291",
        "METASPACE_WITHOUT_SPACE, PreTrainedTokenizerFast, true,  283 293 272 264 291",
    })
    void aLlamaTokenizerAddsTheSpaceThatItsConfigSays(Form form, String tokenizerClass, String said, String ids)
            throws IOException {
        Tokenizer tokenizer = load(form, config(tokenizerClass, said));
        assertThat(tokenizer.encode(TEXT)).containsExactly(numbers(ids));
    }

    @ParameterizedTest
    @EnumSource(
            value = Form.class,
            names = {"PREPEND", "METASPACE"})
    void whereNoSpaceIsAddedNoneIsTakenAway(Form form) throws IOException {
        Tokenizer tokenizer = load(form, config("LlamaTokenizer", "false"));
        assertEquals(" hello", tokenizer.decode(tokenizer.encode(" hello")));
    }

    @ParameterizedTest
    @CsvSource({
        "BYTE_LEVEL,              PreTrainedTokenizerFast, true,  adds none",
        "BYTE_LEVEL_WITH_SPACE,   PreTrainedTokenizerFast, false, adds a space",
        "DIGITS_AND_BYTE_LEVEL,   GPT2Tokenizer,           true,  adds none",
        "METASPACE_WITHOUT_SPACE, LlamaTokenizer,          true,  adds none",
        "BYTE_LEVEL,              LlamaTokenizer,          true,  adds none",
    })
    void aSpaceThatIsAmbiguousIsRefused(Form form, String tokenizerClass, String said, String found)
            throws IOException {
        assertThat(refused(form, config(tokenizerClass, said)))
                .isEqualTo(file(CONFIG) + ": add_prefix_space is " + said + ", but tokenizer.json beside it " + found
                        + ": make the two agree");
    }

    @Test
    void aSpaceThatIsNeitherThereNorNotIsRefused() throws IOException {
        assertThat(refused(Form.BYTE_LEVEL, "{\"add_prefix_space\": \"yes\"}"))
                .isEqualTo(file(CONFIG) + ": add_prefix_space is \"yes\", expected true or false");
    }

    @ParameterizedTest
    @EnumSource(
            value = Form.class,
            names = {"BYTE_LEVEL", "TWO_FILES"})
    void tokensThatOnlyTheConfigAddsAreFound(Form form) throws IOException {
        Tokenizer tokenizer = load(form, decoder(token(266, "[USER]", ""), token(267, "[SYS]", "\"special\": true")));
        assertThat(tokenizer.encode("[USER] hello[SYS]")).containsExactly(266, 32, 259, 91, 83, 89, 83, 93);
        assertThat(tokenizer.pieces(new int[] {266, 267})).containsExactly("[USER]", "[SYS]");
        assertThat(tokenizer.isSpecial(266)).isFalse();
        assertThat(tokenizer.isSpecial(267)).isTrue();
        assertEquals("[USER]", tokenizer.decode(new int[] {266, 267}));
        assertEquals(BYTE_LEVEL_VOCAB_SIZE + 2, tokenizer.vocabSize());
    }

    @Test
    void tokensThatOnlyTheConfigAddsAreFoundByALlamaTokenizer() throws IOException {
        assertThat(load(Form.PREPEND, decoder(token(BYTE_FALLBACK_VOCAB_SIZE, "[USER]", "")))
                        .encode("a[USER] hello"))
                .containsExactly(259, 261, 295, 259, 291);
    }

    /** A file that has no {@code added_tokens} at all gets them. */
    @Test
    void tokensThatOnlyTheConfigAddsNeedNoOthers() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.remove("added_tokens");
        assertThat(load(json, decoder(token(266, "[USER]", ""))).encode("[USER]"))
                .containsExactly(266);
    }

    @Test
    void flagsOfAddedTokensCount() throws IOException {
        assertThat(load(Form.BYTE_LEVEL, decoder(token(266, "[U]", "\"lstrip\": true, \"rstrip\": true")))
                        .encode("a [U] hello"))
                .containsExactly(97, 266, 259);
        assertThat(load(Form.BYTE_LEVEL, decoder(token(266, "ell", "\"single_word\": true")))
                        .encode("hello ell"))
                .containsExactly(259, 32, 266);
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, true", "true, true"})
    void aTokenIsSpecialIfEitherFileSaysSo(boolean inTokenizer, boolean inConfig) throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        addToken(json, 266, "[U]", inTokenizer);
        assertThat(load(json, decoder(token(266, "[U]", "\"special\": " + inConfig)))
                        .encode("[U]a"))
                .containsExactly(91, 85, 93, 97);
    }

    @Test
    void addedTokensJsonCountsWhereTheConfigIsSilent() throws IOException {
        Files.writeString(folder.resolve("added_tokens.json"), "{\"[U]\": 266}");
        assertThat(load(Form.BYTE_LEVEL, "{}").encode("[U]a")).containsExactly(266, 97);
        assertThat(load(Form.BYTE_LEVEL, decoder(token(265, TestTokenizers.END_OF_TEXT, "\"special\": true")))
                        .encode("[U]a"))
                .containsExactly(91, 85, 93, 97);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'267': {'content': '[U]'}}  | gives id 267 to '[U]', expected 266, the next that is free",
                "{'5': {'content': '[U]'}}    | gives id 5 to '[U]', which FILE gives to 'ą'",
                "{'266': {'content': 'he'}}   | gives id 266 to 'he', expected 256, as in FILE",
                "{'x': {'content': '[U]'}}    | has the id 'x', expected a number from 0",
                "{'-1': {'content': '[U]'}}   | the id of '-1' is -1, expected a number from 0",
                "{'266': '[U]'}               | has '[U]' for id 266, expected an object with the token's content",
                "{'266': {'content': 1}}      | has {'content':1} for id 266, expected an object",
                "{'266': {'content': '[U]', 'lstrip': 'yes'}} | lstrip of id 266 is 'yes', expected true or false",
                "{'266': {'content': '[U]'}, '0266': {'content': '[V]'}} | gives id 266 to '[U]' and to '[V]'",
                "[]                           | is [], expected an object of tokens by their ids",
            })
    void declaredTokensThatMakeNoSenseAreRefused(String tokens, String words) throws IOException {
        assertThat(refused(Form.BYTE_LEVEL, "{\"added_tokens_decoder\": " + tokens.replace('\'', '"') + "}"))
                .startsWith(file(CONFIG) + ": added_tokens_decoder")
                .contains(words.replace("token's", "TOKENS")
                        .replace('\'', '"')
                        .replace("TOKENS", "token's")
                        .replace("FILE", file("tokenizer.json")));
    }

    @Test
    void aTokenThatTheTokenizerHasUnderAnotherNameIsRefused() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        addToken(json, 266, "[U]", false);
        write(json, decoder(token(266, "[W]", "")));
        assertThat(failure())
                .isEqualTo(file(CONFIG) + ": added_tokens_decoder gives id 266 to \"[W]\", which "
                        + file("tokenizer.json") + " gives to \"[U]\"");
    }

    @Test
    void anAddedTokensFileThatMakesNoSenseIsRefused() throws IOException {
        Files.writeString(folder.resolve("added_tokens.json"), "{\"[U]\": \"x\"}");
        assertThat(refused(Form.TWO_FILES, "{}"))
                .isEqualTo(file("added_tokens.json") + ": the id of \"[U]\" is \"x\", expected a number from 0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"image_token\": \"hello\"}",
                "{\"eos_token\": {\"content\": \"hello\"}}",
                "{\"additional_special_tokens\": [\"hello\"]}",
                "{\"extra_special_tokens\": [{\"content\": \"hello\"}]}",
                "{\"extra_special_tokens\": {\"image_token\": \"hello\"}}",
            })
    void tokensThatTheConfigNamesAreSpecial(String config) throws IOException {
        Tokenizer tokenizer = load(Form.BYTE_LEVEL, config);
        assertThat(tokenizer.isSpecial(259)).isTrue();
        assertThat(tokenizer.isSpecial(258)).isFalse();
    }

    @Test
    void anAddedTokenThatTheConfigNamesIsPlainText() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        addToken(json, 266, "[U]", false);
        Tokenizer tokenizer = load(json, "{\"eos_token\": \"[U]\"}");
        assertThat(tokenizer.encode("[U]a")).containsExactly(91, 85, 93, 97);
        assertThat(tokenizer.isSpecial(266)).isTrue();
    }

    @Test
    void anotherPatternIsRefused() throws IOException {
        assertThat(refused(Form.BYTE_LEVEL, "{\"fix_mistral_regex\": true}"))
                .isEqualTo(file(CONFIG) + ": fix_mistral_regex is true, which is not implemented");
        assertThat(load(Form.BYTE_LEVEL, "{\"fix_mistral_regex\": false}").encode(TEXT))
                .containsExactly(WITHOUT_SPACE);
    }

    /** The pre-tokenizer leaves the word whole, and the model takes whole words from its vocabulary. */
    @Test
    void aSpecialTokenThatIsOneWordIsPlainText() throws IOException {
        ObjectNode json = TestTokenizers.byteLevelJson();
        json.withObject("model").put("ignore_merges", true);
        addToken(json, 266, "ENDOFTURN", true);
        assertThat(load(json, "{}").encode("ENDOFTURN hello"))
                .containsExactly(69, 78, 68, 79, 70, 84, 85, 82, 78, 32, 259);
    }

    @Test
    void aSpecialTokenOfOneCharacterIsPlainText() throws IOException {
        ObjectNode json = TestTokenizers.byteFallbackJson();
        addToken(json, BYTE_FALLBACK_VOCAB_SIZE, "🤖", true);
        Tokenizer tokenizer = load(json, "{}");
        assertThat(tokenizer.encode("a🤖b")).containsExactly(259, 261, 243, 162, 167, 153, 262);
        assertEquals("a🤖b", tokenizer.decode(tokenizer.encode("a🤖b")));
    }

    /** A byte that no piece covers is looked up by this name. */
    @Test
    void aSpecialTokenNamedLikeAByteIsPlainText() throws IOException {
        ObjectNode json = TestTokenizers.byteFallbackJson();
        json.withObject("model").withObject("vocab").remove("<0xBC>");
        addToken(json, BYTE_FALLBACK_VOCAB_SIZE, "<0xBC>", true);
        assertThat(load(json, "{}").encode("ü")).doesNotContain(BYTE_FALLBACK_VOCAB_SIZE);
    }

    private Tokenizer load(Form form, String config) throws IOException {
        if (form == Form.TWO_FILES) {
            TestTokenizers.byteLevelAsVocabAndMerges(folder);
            Files.writeString(folder.resolve(CONFIG), config);
            return Tokenizer.load(folder);
        }
        return load(json(form), config);
    }

    private Tokenizer load(ObjectNode json, String config) throws IOException {
        write(json, config);
        return Tokenizer.load(folder);
    }

    private String refused(Form form, String config) throws IOException {
        if (form == Form.TWO_FILES) {
            TestTokenizers.byteLevelAsVocabAndMerges(folder);
            Files.writeString(folder.resolve(CONFIG), config);
        } else {
            write(json(form), config);
        }
        return failure();
    }

    private void write(ObjectNode json, String config) throws IOException {
        Files.writeString(folder.resolve("tokenizer.json"), json.toString());
        Files.writeString(folder.resolve(CONFIG), config);
    }

    private String failure() {
        return assertThrows(CheckpointException.class, () -> Tokenizer.load(folder))
                .getMessage();
    }

    private static ObjectNode json(Form form) {
        boolean llama = form.ordinal() >= Form.PREPEND.ordinal();
        ObjectNode json = llama ? TestTokenizers.byteFallbackJson() : TestTokenizers.byteLevelJson();
        ObjectNode byteLevel = llama ? null : json.withObject("pre_tokenizer");
        switch (form) {
            case BYTE_LEVEL, TWO_FILES, PREPEND -> {}
            case BYTE_LEVEL_WITH_SPACE -> byteLevel.put("add_prefix_space", true);
            case DIGITS_AND_BYTE_LEVEL -> {
                ArrayNode parts =
                        json.putObject("pre_tokenizer").put("type", "Sequence").putArray("pretokenizers");
                parts.addObject().put("type", "Digits").put("individual_digits", true);
                parts.add(byteLevel);
            }
            case METASPACE, METASPACE_WITHOUT_SPACE ->
                json.putNull("normalizer")
                        .putObject("pre_tokenizer")
                        .put("type", "Metaspace")
                        .put("replacement", "▁")
                        .put("prepend_scheme", form == Form.METASPACE ? "always" : "never")
                        .put("split", false);
        }
        return json;
    }

    private static String config(String tokenizerClass, String space) {
        return "{" + (tokenizerClass == null ? "" : "\"tokenizer_class\": \"" + tokenizerClass + "\", ")
                + "\"add_prefix_space\": " + space + "}";
    }

    private static String decoder(String... tokens) {
        return "{\"tokenizer_class\": \"GPT2Tokenizer\", \"added_tokens_decoder\": {" + String.join(", ", tokens)
                + "}}";
    }

    private static String token(int id, String content, String flags) {
        return String.format(
                Locale.ROOT, "\"%d\": {\"content\": \"%s\"%s%s}", id, content, flags.isEmpty() ? "" : ", ", flags);
    }

    private static void addToken(ObjectNode json, int id, String content, boolean special) {
        json.withArray("added_tokens")
                .addObject()
                .put("id", id)
                .put("content", content)
                .put("special", special)
                .put("single_word", false)
                .put("lstrip", false)
                .put("rstrip", false)
                .put("normalized", false);
    }

    private static int[] numbers(String spaced) {
        return Arrays.stream(spaced.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }
}
