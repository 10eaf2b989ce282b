package io.github.tornadotransformers.runner.console;

import java.util.Locale;
import java.util.function.Predicate;

/** What a user is told when the JVM has run out of memory. */
public final class MemoryAdvice {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    private MemoryAdvice() {}

    /**
     * One line: what is full, and what helps.
     *
     * @param heapBytes the most that the JVM's heap may have
     * @param hasOption whether the command that was called has an option
     */
    public static String of(OutOfMemoryError error, long heapBytes, Predicate<String> hasOption) {
        String found = String.valueOf(error.getMessage());
        if (found.contains("heap space") || found.contains("GC overhead")) {
            return String.format(
                    Locale.ROOT,
                    "the JVM's heap of %d MiB is full: set TRANSFORMERS_JVM_FLAGS=-Xmx%s%s",
                    heapBytes / MIB,
                    flag(2 * heapBytes),
                    hasOption.test("--context") ? ", or try a smaller --context" : "");
        }
        String wanted = found.contains("native thread") ? "--threads" : "--context";
        return "there is not enough memory (" + found + ")"
                + (!hasOption.test(wanted)
                        ? ""
                        : ": try " + (wanted.equals("--threads") ? "fewer " : "a smaller ") + wanted);
    }

    private static String flag(long bytes) {
        return bytes < 2 * GIB ? bytes / MIB + "m" : bytes / GIB + "g";
    }
}
