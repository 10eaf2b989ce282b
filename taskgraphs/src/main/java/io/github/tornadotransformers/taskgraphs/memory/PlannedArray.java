package io.github.tornadotransformers.taskgraphs.memory;

import java.util.Optional;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * An array that a task works on, and the elements that it must have for that. Where tasks want different sizes of an array,
 * the largest is allocated.
 */
public record PlannedArray<T extends TornadoNativeArray>(ArrayKey<T> key, long elements) implements Argument<T> {
    /** Of the elements and their header. */
    public long bytes() {
        return Math.addExact(Math.multiplyExact(elements, key.type().bytes()), TornadoNativeArray.ARRAY_HEADER);
    }

    /** Of two sizes of an array. */
    public static <T extends TornadoNativeArray> PlannedArray<T> larger(PlannedArray<T> one, PlannedArray<T> other) {
        return one.elements < other.elements ? other : one;
    }

    @Override
    public T in(DeviceArrays arrays) {
        return arrays.get(key);
    }

    /** This array, if it holds elements of that type, or one in its place that a kernel does not read. */
    <U extends TornadoNativeArray> Argument<U> orUnread(ElementType<U> type) {
        return orUnread(type, "");
    }

    /** @param argument as {@link ConstantKey.Unread} has it */
    <U extends TornadoNativeArray> Argument<U> orUnread(ElementType<U> type, String argument) {
        return as(type).<Argument<U>>map(found -> found).orElseGet(() -> new ConstantKey.Unread<>(type, argument));
    }

    /** This array, if it holds elements of that type. */
    @SuppressWarnings("unchecked") // The key's type is that of its array.
    public <U extends TornadoNativeArray> Optional<PlannedArray<U>> as(ElementType<U> type) {
        return key.type().equals(type) ? Optional.of((PlannedArray<U>) this) : Optional.empty();
    }
}
