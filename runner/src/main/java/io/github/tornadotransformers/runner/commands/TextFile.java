package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Failure;
import picocli.CommandLine.Option;

/** The option of all commands that take a text. */
final class TextFile {
    static final String OPTION = "--file";

    @Option(
            names = OPTION,
            paramLabel = "FILE",
            description = "take the text from this UTF-8 file, to its last newline; - is standard input")
    String path;

    /**
     * Ends the command where token ids are given beside a text.
     *
     * @param label of the parameter or option that takes the text
     * @param text what it was given; null where it was not
     * @throws Failure if they are
     */
    void requireNoText(String label, String text) {
        if (text != null || path != null) {
            throw Failure.usage((text == null ? OPTION : label) + " and --prompt-ids are given, expected one of them");
        }
    }
}
