package io.github.tornadotransformers.models.jinja;

import java.util.List;
import java.util.Map;

/** What a function, a filter or a test is called with, evaluated; a filter's and a test's own value is apart. */
record Arguments(List<Object> positional, Map<String, Object> named) {
    /** The argument at a place or of a name, or what stands for it. */
    Object get(int index, String name, Object byDefault) {
        if (index < positional.size()) {
            return positional.get(index);
        }
        return named.containsKey(name) ? named.get(name) : byDefault;
    }

    Object require(int index, String name) {
        if (index >= positional.size() && !named.containsKey(name)) {
            throw new TemplateException("the argument '" + name + "' is missing");
        }
        return get(index, name, null);
    }

    String text(int index, String name, String byDefault) {
        Object value = get(index, name, byDefault);
        return value instanceof String || value == null ? (String) value : Values.text(value);
    }

    boolean has(int index, String name) {
        return index < positional.size() || named.containsKey(name);
    }

    boolean truth(int index, String name, boolean byDefault) {
        return Values.truth(get(index, name, byDefault));
    }

    int integer(int index, String name, int byDefault) {
        return Values.index(get(index, name, (long) byDefault));
    }

    /** All but the first ones. */
    Arguments from(int index) {
        return new Arguments(positional.subList(Math.min(index, positional.size()), positional.size()), named);
    }

    void requireAtMost(int count) {
        if (positional.size() > count) {
            throw new TemplateException(positional.size() + " arguments were given, expected at most " + count);
        }
    }
}
