package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.lang.module.ModuleFinder;

/**
 * Adds the Vector API to a JVM that was started without {@code --add-modules}, which would print a warning about incubator
 * modules into every run and keep the JVM from its archived module graph. It is how the JVM itself adds modules for agents;
 * a program's manifest can export the package. Must come before the first class that uses vectors.
 */
public final class VectorModule {
    private static final String NAME = "jdk.incubator.vector";

    private VectorModule() {}

    /** @throws EngineException if the module can be added neither way */
    public static void require() {
        if (ModuleLayer.boot().findModule(NAME).isPresent()) {
            return;
        }
        boolean exists = ModuleFinder.ofSystem().find(NAME).isPresent();
        try {
            Class.forName("jdk.internal.module.Modules")
                    .getMethod("loadModule", String.class)
                    .invoke(null, NAME);
        } catch (ReflectiveOperationException e) {
            throw new EngineException(
                    Wording.of(
                            "%s host needs the module %s%s",
                            Term.ENGINE,
                            NAME,
                            exists
                                    ? ": start java with --add-modules " + NAME
                                    : ", which this Java runtime does not have"),
                    e);
        }
    }
}
