package io.github.tornadotransformers.runner.commands;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** What every command takes. */
final class CommonOptions {
    static final String STACKTRACE = "--stacktrace";
    static final String LOG = "--log";

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this help")
    boolean help;

    @Option(names = STACKTRACE, description = "on an error, show where it came from")
    boolean stacktrace;

    @Option(
            names = LOG,
            paramLabel = "FILE",
            description = "add what is said on the way to FILE, each line with the time")
    Path log;
}
