package io.github.tornadotransformers.runner;

import io.github.tornadotransformers.runner.commands.Commands;
import io.github.tornadotransformers.runner.console.Console;

/** The command line's door. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.exit(new Commands(Console.ofProcess()).run(arguments));
    }
}
