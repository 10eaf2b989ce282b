package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.OptionalInt;

/**
 * A text as ids, its end kept apart to measure how well a model predicts what it was not trained on.
 */
public final class TrainingText {
    private final int[] training;
    private final int[] validation;
    private final int validationBytes;
    private final OptionalInt startToken;
    private final int newline;
    private final String digest;

    private TrainingText(int[] training, int[] validation, int validationBytes, Tokenizer tokenizer, String digest) {
        this.training = training;
        this.validation = validation;
        this.validationBytes = validationBytes;
        this.startToken = tokenizer.startToken();
        int[] line = tokenizer.encode("\n");
        this.newline = line.length == 0 ? -1 : line[line.length - 1];
        this.digest = digest;
    }

    /**
     * @param validationShare of the characters, from the end, at a line's start; 0 for none
     * @param context tokens of a window
     * @throws TrainingException if either part is too short for one window
     */
    public static TrainingText of(String text, Tokenizer tokenizer, double validationShare, int context) {
        int split = validationShare == 0 ? text.length() : lineStart(text, validationShare);
        int[] training = tokenizer.encode(text.substring(0, split));
        int[] validation = tokenizer.encode(text.substring(split));
        requireWindow("training", training.length, context);
        if (validationShare > 0) {
            requireWindow("validation", validation.length, context);
        }
        int validationBytes = text.substring(split).getBytes(StandardCharsets.UTF_8).length;
        return new TrainingText(training, validation, validationBytes, tokenizer, digest(training, validation));
    }

    private static int lineStart(String text, double validationShare) {
        int split = (int) (text.length() * (1 - validationShare));
        int line = text.indexOf('\n', split);
        return line < 0 ? text.length() : line + 1;
    }

    private static void requireWindow(String part, int tokens, int context) {
        if (tokens <= context) {
            throw new TrainingException(Wording.of(
                    "the text has %d tokens for %s, expected more than %d, the context: use a longer text, a smaller %s or"
                            + " another %s share",
                    tokens, part, context, Term.CONTEXT, Term.VALIDATION));
        }
    }

    private static String digest(int[] training, int[] validation) {
        MessageDigest digest = Sha256.digest();
        digest.update(Arrays.toString(training).getBytes(StandardCharsets.US_ASCII));
        digest.update(Arrays.toString(validation).getBytes(StandardCharsets.US_ASCII));
        return HexFormat.of().formatHex(digest.digest());
    }

    public int trainingTokens() {
        return training.length;
    }

    public int validationTokens() {
        return validation.length;
    }

    /** A loss per token of the validation text as a loss per UTF-8 byte of it: comparable whatever the tokenizer. */
    public double perByte(double lossPerToken) {
        return lossPerToken * validation.length / validationBytes;
    }

    public boolean hasValidation() {
        return validation.length > 0;
    }

    /** SHA-256 of the ids and where they are split. */
    String digest() {
        return digest;
    }

    WindowSampler trainingWindows(int context, long seed) {
        return new WindowSampler(training, context, seed, startToken, newline);
    }

    /** How many windows cover the validation text one after the other; what is left over is not used. */
    int validationWindows(int context) {
        return (validation.length - 1) / context;
    }

    /** {@code context + 1} ids: of the inputs, and one more for the last target. */
    int[] validationWindow(int index, int context) {
        return Arrays.copyOfRange(validation, index * context, (index + 1) * context + 1);
    }
}
