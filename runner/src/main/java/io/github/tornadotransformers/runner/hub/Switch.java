package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.runner.console.Console;
import java.util.Locale;
import java.util.Set;

/** A variable that is on or off, as Hugging Face's libraries read it. */
final class Switch {
    private static final Set<String> ON = Set.of("1", "on", "yes", "true");

    private Switch() {}

    static boolean isOn(Console console, String variable) {
        return console.variable(variable)
                .filter(value -> ON.contains(value.strip().toLowerCase(Locale.ROOT)))
                .isPresent();
    }
}
