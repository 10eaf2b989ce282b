package io.github.tornadotransformers.models.tokenizer;

/** A tokenizer's files are missing or broken. The message is one line for the user. */
public final class TokenizerException extends RuntimeException {
    TokenizerException(String message) {
        super(message);
    }

    TokenizerException(String message, Throwable cause) {
        super(message, cause);
    }
}
