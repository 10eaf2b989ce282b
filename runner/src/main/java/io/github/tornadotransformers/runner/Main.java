package io.github.tornadotransformers.runner;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line's door: {@code transformers COMMAND}. */
@Command(
        name = "transformers",
        description = "GPT-2 and Llama as Java kernels on TornadoVM, checked bit for bit against a host reference.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        CommandLine commandLine = new CommandLine(new Main());
        commandLine.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        if (arguments.length == 0) {
            commandLine.usage(System.err);
            return CommandLine.ExitCode.USAGE;
        }
        return commandLine.execute(arguments);
    }
}
