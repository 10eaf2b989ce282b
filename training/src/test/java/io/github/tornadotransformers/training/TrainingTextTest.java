package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingTextTest {
    private static final double SHARE = 0.1;

    @TempDir
    private Path folder;

    private String text;
    private Tokenizer tokenizer;

    @BeforeEach
    void makeText() throws IOException {
        TinyTraining tiny = new TinyTraining(folder);
        text = tiny.text();
        tokenizer = tiny.tokenizer();
    }

    private TrainingText of(String text, double share) {
        return TrainingText.of(text, tokenizer, share, TinyTraining.CONTEXT);
    }

    @Test
    void theValidationTextBeginsAtTheFirstLineOfItsShare() {
        String lines = "the owl sleeps by day\n".repeat(10);
        TrainingText parts =
                of(lines, 0.42); // from the character 127 of 220 on, in the line whose newline is the character 131
        assertThat(parts.trainingTokens()).isEqualTo(tokenizer.encode(lines.substring(0, 132)).length);
        assertThat(parts.validationTokens()).isEqualTo(tokenizer.encode(lines.substring(132)).length);
        assertThat(parts.hasValidation()).isTrue();
    }

    @Test
    void withoutAShareAllIsForTraining() {
        TrainingText parts = of(text, 0);
        assertThat(parts.trainingTokens()).isEqualTo(tokenizer.encode(text).length);
        assertThat(parts.validationTokens()).isZero();
        assertThat(parts.hasValidation()).isFalse();
    }

    @Test
    void eachPartNeedsOneTokenMoreThanTheContext() {
        int training = of(text, 0).trainingTokens();
        assertThat(TrainingText.of(text, tokenizer, 0, training - 1).trainingTokens())
                .isEqualTo(training);
        assertThatThrownBy(() -> TrainingText.of(text, tokenizer, 0, training))
                .isInstanceOf(TrainingException.class)
                .hasMessageStartingWith(
                        "the text has " + training + " tokens for training, expected more than " + training);
        int validation = of(text, SHARE).validationTokens();
        assertThat(TrainingText.of(text, tokenizer, SHARE, validation - 1).validationWindows(validation - 1))
                .isOne();
        assertThatThrownBy(() -> TrainingText.of(text, tokenizer, SHARE, validation))
                .isInstanceOf(TrainingException.class)
                .hasMessageStartingWith("the text has " + validation + " tokens for validation, expected more than ");
    }

    /** What a run may be resumed with: the same ids, split at the same place. */
    @Test
    void theDigestTellsEitherPartAndTheSplit() {
        String digest = of(text, SHARE).digest();
        assertThat(digest).matches("[0-9a-f]{64}").isEqualTo(of(text, SHARE).digest());
        char last = text.stripTrailing().charAt(text.stripTrailing().length() - 1);
        String otherEnd = text.substring(0, text.lastIndexOf(last)) + "x" + text.substring(text.lastIndexOf(last) + 1);
        assertThat(otherEnd).hasSameSizeAs(text).isNotEqualTo(text);
        assertThat(of(otherEnd, SHARE).digest()).isNotEqualTo(digest);
        assertThat(of("x" + text.substring(1), SHARE).digest()).isNotEqualTo(digest);
        assertThat(of(text, 2 * SHARE).digest()).isNotEqualTo(digest);
    }

    @Test
    void aLossPerByteCountsTheBytesOfTheValidationTextAlone() {
        String lines = "the owl sleeps by day\n".repeat(20) + "é ü 夜\n".repeat(9);
        TrainingText parts = of(lines, 0.08);
        int at = (int) (lines.length() * 0.92);
        String validation = lines.substring(lines.indexOf('\n', at) + 1);
        int bytes = validation.getBytes(StandardCharsets.UTF_8).length;
        assertThat(bytes).isGreaterThan(validation.length());
        assertThat(parts.perByte(3.5)).isCloseTo(3.5 * tokenizer.encode(validation).length / bytes, within(1e-12));
    }
}
