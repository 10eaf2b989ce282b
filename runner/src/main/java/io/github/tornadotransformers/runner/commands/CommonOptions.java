package io.github.tornadotransformers.runner.commands;

import picocli.CommandLine.Option;

/** What every command takes. */
final class CommonOptions {
    static final String STACKTRACE = "--stacktrace";

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this help")
    boolean help;

    @Option(names = STACKTRACE, description = "on an error, show where it came from")
    boolean stacktrace;
}
