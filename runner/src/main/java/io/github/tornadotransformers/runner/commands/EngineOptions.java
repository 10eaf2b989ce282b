package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** The options that say on which engine a model runs, and how. */
final class EngineOptions extends ModelOptions {
    /** Before the options of the superclass. */
    private static final int FIRST = -1;

    /** Where the default is another one, the launcher names it. */
    @Option(
            names = {"-e", "--engine"},
            paramLabel = "ENGINE",
            order = FIRST,
            description = {
                "host (all cores), scalar (one thread, the definition of right), or a TornadoVM device: tornado,"
                        + " opencl, ptx, spirv, cuda, metal (default: tornado where it finds a GPU, else host)"
            })
    EngineKind engine = EngineKind.HOST;

    @Option(
            names = "--pack",
            description = "keep the weights in the cache as the host has them in memory: the next start maps them, and"
                    + " need not load them")
    boolean pack;

    /**
     * As {@link #settings()}, and with packs where they are asked for.
     *
     * @param notices is told what is to be known of a pack
     */
    EngineSettings settings(Console console, Consumer<String> notices) {
        EngineSettings settings = settings();
        return pack ? settings.withPacks(ModelCache.packs(console), notices) : settings;
    }

    /** @throws Failure if options contradict each other or a value is out of range */
    EngineSettings settings() {
        if (device != null && !engine.onDevice()) {
            throw Failure.usage("--device is for the engines on a device, and the engine is " + engine);
        }
        if (threads != null && engine != EngineKind.HOST) {
            throw Failure.usage("--threads is for the engine host, and the engine is " + engine);
        }
        if (pack && engine.onDevice()) {
            throw Failure.usage("--pack is for the engines of the host, and the engine is " + engine);
        }
        return settingsFor(engine);
    }
}
