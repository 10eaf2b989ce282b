package io.github.tornadotransformers.runner.verify;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** What a reader of a report must know of the machine and the process to repeat it. */
public final class Environment {
    private static final Path PROCESSOR = Path.of("/proc/cpuinfo");
    private static final String MODEL_NAME = "model name";

    private Environment() {}

    /** @param sdk the TornadoVM SDK's folder, if one was found */
    public static Map<String, String> describe(String version, Optional<Path> sdk) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("tornado-transformers", version);
        facts.put("operating system", property("os.name") + " " + property("os.version") + ", " + property("os.arch"));
        processor().ifPresent(name -> facts.put("processor", name));
        facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("JDK", property("java.vm.name") + " " + property("java.runtime.version"));
        facts.put(
                "JVM flags",
                String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
        facts.put("TornadoVM", sdk.map(Environment::release).orElse("none found"));
        return facts;
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown");
    }

    private static Optional<String> processor() {
        try {
            return Files.readAllLines(PROCESSOR).stream()
                    .filter(line -> line.startsWith(MODEL_NAME))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String release(Path sdk) {
        try {
            return String.join(", ", Files.readAllLines(sdk.resolve("etc").resolve("tornado.release")));
        } catch (IOException e) {
            return "an SDK that does not say its release";
        }
    }
}
