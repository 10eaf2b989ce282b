package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.HuggingFaceFolders;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What the hub knows a user by.
 *
 * @param value secret: it stands in no message
 * @param origin the variable or the file that it is from
 */
record AccessToken(String value, String origin) {
    static final String VARIABLE = "HF_TOKEN";

    /** More characters than any token has. */
    private static final int MAX_BYTES = 1 << 16;

    /** What older libraries call {@link #VARIABLE}. */
    private static final String OLDER_VARIABLE = "HUGGING_FACE_HUB_TOKEN";

    /** Whether the token of a file is sent to nobody. */
    private static final String DISABLED = "HF_HUB_DISABLE_IMPLICIT_TOKEN";

    /**
     * That of the variable, else of the file that Hugging Face's own login leaves.
     *
     * @throws Failure if it cannot be a token, or the file cannot be read
     */
    static Optional<AccessToken> find(Console console) {
        return ofVariable(console, VARIABLE)
                .or(() -> ofVariable(console, OLDER_VARIABLE))
                .or(() -> Switch.isOn(console, DISABLED)
                        ? Optional.empty()
                        : ofFile(HuggingFaceFolders.tokenFile(console.environment())));
    }

    private static Optional<AccessToken> ofVariable(Console console, String name) {
        return console.variable(name).map(value -> checked(value.strip(), name));
    }

    private static Optional<AccessToken> ofFile(Path file) {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw Failure.of(Quoted.path(file) + " has " + Files.size(file) + " bytes: it is no token's file");
            }
            return Optional.of(Files.readString(file).strip())
                    .filter(value -> !value.isEmpty())
                    .map(value -> checked(value, Quoted.path(file)));
        } catch (IOException e) {
            throw Failure.of("the token's file " + Quoted.path(file) + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private static AccessToken checked(String value, String origin) {
        if (!value.chars().allMatch(each -> each > ' ' && each < 0x7F)) {
            throw Failure.of(
                    origin + " has a character that no token has, such as a space, a line's end or a letter with"
                            + " an accent: copy it again");
        }
        return new AccessToken(value, origin);
    }
}
