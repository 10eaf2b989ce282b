package io.github.tornadotransformers.models.jinja;

import java.util.HashMap;
import java.util.Map;

/** Names and their values, and those of the scopes around. */
final class Scope {
    private final Scope around;
    private final Map<String, Object> values = new HashMap<>();

    /** @param around null: none */
    Scope(Scope around) {
        this.around = around;
    }

    void set(String name, Object value) {
        values.put(name, value);
    }

    Object get(String name) {
        for (Scope scope = this; scope != null; scope = scope.around) {
            if (scope.values.containsKey(name)) {
                return scope.values.get(name);
            }
        }
        return Undefined.name(name);
    }
}
