package io.github.tornadotransformers.models.gguf;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SequencedMap;

/** The keys of a GGUF file and their values, typed and checked as they are asked for. */
public final class GgufMetadata {
    private final Path file;
    private final Map<String, GgufValue> values;

    GgufMetadata(Path file, Map<String, GgufValue> values) {
        this.file = file;
        this.values = new LinkedHashMap<>(values);
    }

    /** The keys that begin so, with their values. */
    public SequencedMap<String, GgufValue> startingWith(String prefix) {
        SequencedMap<String, GgufValue> found = new LinkedHashMap<>(values);
        found.keySet().removeIf(key -> !key.startsWith(prefix));
        return found;
    }

    public boolean has(String key) {
        return values.containsKey(key);
    }

    public Optional<String> text(String key) {
        return of(key, GgufValue.Text.class, "a text").map(GgufValue.Text::value);
    }

    /** @throws CheckpointException if it is missing or no text */
    public String requireText(String key) {
        return text(key).orElseThrow(() -> missing(key));
    }

    public Optional<Boolean> flag(String key) {
        return of(key, GgufValue.Flag.class, "true or false").map(GgufValue.Flag::value);
    }

    boolean isWhole(String key) {
        return values.get(key) instanceof GgufValue.Whole;
    }

    public OptionalLong whole(String key) {
        return of(key, GgufValue.Whole.class, "a whole number")
                .map(whole -> OptionalLong.of(whole.value()))
                .orElseGet(OptionalLong::empty);
    }

    /** A whole number or another. */
    public Optional<Double> number(String key) {
        GgufValue value = values.get(key);
        if (value instanceof GgufValue.Whole whole) {
            return Optional.of((double) whole.value());
        }
        return of(key, GgufValue.Real.class, "a number").map(GgufValue.Real::value);
    }

    public Optional<List<String>> texts(String key) {
        return of(key, GgufValue.Texts.class, "a list of texts").map(GgufValue.Texts::values);
    }

    public Optional<List<Double>> numbers(String key) {
        return of(key, GgufValue.Numbers.class, "a list of numbers").map(GgufValue.Numbers::values);
    }

    /** An id of the vocabulary; none where there is no such key, or where it is the number that stands for none. */
    public OptionalInt tokenId(String key) {
        OptionalLong id = whole(key);
        if (id.isEmpty() || id.getAsLong() == -1 || id.getAsLong() == 0xFFFF_FFFFL) {
            return OptionalInt.empty();
        }
        if (id.getAsLong() < 0 || id.getAsLong() > Integer.MAX_VALUE) {
            throw rejected(key, "a token's id");
        }
        return OptionalInt.of((int) id.getAsLong());
    }

    private <V extends GgufValue> Optional<V> of(String key, Class<V> kind, String expected) {
        GgufValue value = values.get(key);
        if (value != null && !kind.isInstance(value)) {
            throw rejected(key, expected);
        }
        return Optional.ofNullable(value).map(kind::cast);
    }

    /** That a key is not there. */
    public CheckpointException missing(String key) {
        return new CheckpointException(Quoted.path(file) + ": key " + Quoted.text(key) + " is missing");
    }

    /** That a key's value is wrong. */
    public CheckpointException rejected(String key, String expected) {
        return new CheckpointException(
                Quoted.path(file) + ": key " + Quoted.text(key) + " is " + shown(key) + ", expected " + expected);
    }

    /** That a key's value asks for what is not implemented. */
    public CheckpointException notImplemented(String key, String implemented) {
        return new CheckpointException(Quoted.path(file) + ": key " + Quoted.text(key) + " is " + shown(key)
                + ", which is not implemented; implemented: " + implemented);
    }

    private String shown(String key) {
        GgufValue value = values.get(key);
        return value == null
                ? "missing"
                : value instanceof GgufValue.Text text ? Quoted.text(text.value()) : Quoted.line(value.toString());
    }

    public Path file() {
        return file;
    }
}
