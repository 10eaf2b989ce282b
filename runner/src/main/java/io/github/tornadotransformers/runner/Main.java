package io.github.tornadotransformers.runner;

import io.github.tornadotransformers.runner.commands.Commands;
import io.github.tornadotransformers.runner.console.ArgumentBytes;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.util.Optional;

/** The command line's door. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        Console console = Console.ofProcess();
        Optional<String> fault = ArgumentBytes.fault(arguments);
        if (fault.isPresent()) {
            console.err().println("transformers: " + fault.get());
            System.exit(ExitCode.USAGE);
        }
        System.exit(new Commands(console).run(arguments));
    }
}
