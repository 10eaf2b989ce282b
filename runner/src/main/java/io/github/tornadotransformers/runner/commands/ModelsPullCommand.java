package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Fetches models before they are needed. */
@Command(name = "pull", description = "Fetch models into the cache, and print their folders.", sortOptions = false)
final class ModelsPullCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(arity = "1..*", paramLabel = "NAME", description = "a short name, or OWNER/NAME[@REVISION] of the hub")
    List<String> names;

    @Mixin
    CommonOptions common;

    ModelsPullCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        ModelCache cache = new ModelCache(console);
        for (String name : names) {
            console.out().print(cache.checkpoint(name) + "\n");
        }
        return ExitCode.OK;
    }
}
