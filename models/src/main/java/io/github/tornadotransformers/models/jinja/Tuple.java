package io.github.tornadotransformers.models.jinja;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;

/** A list that prints with parentheses and equals no other list. */
final class Tuple extends AbstractList<Object> {
    private final List<Object> elements;

    Tuple(List<Object> elements) {
        this.elements = elements;
    }

    static Tuple of(Object... elements) {
        return new Tuple(Arrays.asList(elements));
    }

    @Override
    public Object get(int index) {
        return elements.get(index);
    }

    @Override
    public int size() {
        return elements.size();
    }
}
