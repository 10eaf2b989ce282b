package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.runner.console.Failure;
import java.lang.reflect.InvocationTargetException;

/**
 * Adds the Vector API to a JVM that was started without {@code --add-modules}, which would print a warning about incubator
 * modules into every run and keep the JVM from its archived module graph. It is how the JVM itself adds modules for agents;
 * the jar's manifest exports the package. Must come before the first class that uses vectors.
 */
public final class VectorModule {
    private static final String NAME = "jdk.incubator.vector";

    private VectorModule() {}

    /** @throws Failure if the module can be added neither way */
    public static void require() {
        if (ModuleLayer.boot().findModule(NAME).isPresent()) {
            return;
        }
        try {
            Class.forName("jdk.internal.module.Modules")
                    .getMethod("loadModule", String.class)
                    .invoke(null, NAME);
        } catch (ReflectiveOperationException e) {
            Throwable reason = e instanceof InvocationTargetException ? e.getCause() : e;
            throw Failure.of(
                    "the module " + NAME + " cannot be loaded (" + reason + "): start with ./transformers, or with java"
                            + " --add-modules=" + NAME,
                    e);
        }
    }
}
