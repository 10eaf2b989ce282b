package io.github.tornadotransformers.models.tokenizer;

import java.util.function.Supplier;

/** Makes a value when it is first asked for, and once. */
final class Once<T> implements Supplier<T> {
    private final Supplier<T> maker;
    private T value;

    Once(Supplier<T> maker) {
        this.maker = maker;
    }

    @Override
    public synchronized T get() {
        if (value == null) {
            value = maker.get();
        }
        return value;
    }
}
