package io.github.tornadotransformers.models.jinja;

import java.util.ArrayList;
import java.util.List;

/** What {@code loop} is in a loop's body. */
final class LoopState {
    private final List<Object> elements;
    private List<Object> lastChanged;
    private int index;

    LoopState(List<Object> elements) {
        this.elements = elements;
    }

    void at(int position) {
        index = position;
    }

    Object get(String name) {
        int length = elements.size();
        return switch (name) {
            case "index" -> index + 1L;
            case "index0" -> (long) index;
            case "revindex" -> (long) length - index;
            case "revindex0" -> length - index - 1L;
            case "first" -> index == 0;
            case "last" -> index == length - 1;
            case "length" -> (long) length;
            case "depth" -> 1L;
            case "depth0" -> 0L;
            case "previtem" -> index > 0 ? elements.get(index - 1) : new Undefined("there is no previous item");
            case "nextitem" -> index + 1 < length ? elements.get(index + 1) : new Undefined("there is no next item");
            case "cycle" -> (Function) this::cycle;
            case "changed" -> (Function) this::changed;
            default -> new Undefined("a loop has no '" + name + "'");
        };
    }

    private Object cycle(Arguments arguments) {
        if (arguments.positional().isEmpty()) {
            throw new TemplateException("loop.cycle has nothing to choose from");
        }
        return arguments.positional().get(index % arguments.positional().size());
    }

    private Object changed(Arguments arguments) {
        List<Object> now = new ArrayList<>(arguments.positional());
        boolean changed = !Values.equal(lastChanged, now);
        lastChanged = now;
        return changed;
    }
}
