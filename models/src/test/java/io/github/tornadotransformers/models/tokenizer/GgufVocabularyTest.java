package io.github.tornadotransformers.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.gguf.GgufArchitecture;
import io.github.tornadotransformers.models.gguf.GgufHeaderWriter;
import io.github.tornadotransformers.models.gguf.GgufValue;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A tokenizer that was written as the keys of a GGUF file gives the same ids. */
class GgufVocabularyTest {
    private static final List<String> TEXTS = List.of(
            "",
            "hello world",
            " hello  wor\n\n",
            "hell\u00f6 \ud83e\udd99 <s> <|endoftext|>",
            "I'll've 1234567 DON'T \t x",
            "\u4f60\u597d, \u043c\u0438\u0440!");

    @TempDir
    Path folder;

    private Tokenizer written(Path tokenizer, int vocabSize) {
        SequencedMap<String, GgufValue> keys = GgufVocabulary.of(tokenizer, vocabSize);
        keys.put(GgufArchitecture.KEY, new GgufValue.Text("llama"));
        try {
            Path file = folder.resolve("vocabulary.gguf");
            return Tokenizer.load(Files.write(file, GgufHeaderWriter.bytes(keys, List.of())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertSame(Tokenizer actual, Tokenizer expected) {
        for (String text : TEXTS) {
            assertThat(actual.encodePrompt(text)).as(text).isEqualTo(expected.encodePrompt(text));
            assertThat(actual.decode(expected.encode(text))).isEqualTo(expected.decode(expected.encode(text)));
        }
        assertThat(actual.startToken()).isEqualTo(expected.startToken());
    }

    @Test
    void ofBytes() {
        Path tokenizer = TestTokenizers.byteLevel(folder);
        assertSame(written(tokenizer, TestTokenizers.BYTE_LEVEL_VOCAB_SIZE + 3), Tokenizer.load(tokenizer));
    }

    @Test
    void ofPiecesThatFallBackToBytes() {
        Path tokenizer = TestTokenizers.byteFallback(folder);
        assertSame(written(tokenizer, TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE), Tokenizer.load(tokenizer));
    }

    @ParameterizedTest
    @CsvSource({"gpt2, 50257", "llama2, 32000", "llama3, 128256"})
    void ofRealModels(String name, int vocabSize) {
        Path tokenizer = SharedData.require("tokenizers/" + name);
        assertSame(written(tokenizer, vocabSize), Tokenizer.load(tokenizer));
    }

    @Test
    void tooFewIdsAreRefused() {
        Path tokenizer = TestTokenizers.byteLevel(folder);
        assertThatThrownBy(() -> GgufVocabulary.of(tokenizer, 100))
                .isInstanceOf(InvalidRequest.class)
                .hasMessageContaining("the model 100");
    }

    @Test
    void aModelWithoutATokenizerHasNoKeys() {
        assertThat(GgufVocabulary.of(folder, 100)).isEmpty();
    }
}
