package io.github.tornadotransformers.emulator;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * A graph as it was recorded.
 *
 * @param toDevice the arrays that {@code transferToDevice} names
 * @param toHost the arrays that are copied out at each execution
 * @param kept the arrays that are persisted, or copied out under demand
 * @param consumed the arrays taken over from the graph before, with its name where {@code consumeFromDevice} gives one, else {@link
 *     #ANY_GRAPH}
 */
public record RecordedGraph(
        String name,
        List<RecordedTask> tasks,
        Map<TornadoNativeArray, Transfer> toDevice,
        Set<TornadoNativeArray> toHost,
        Set<TornadoNativeArray> kept,
        Map<TornadoNativeArray, String> consumed) {

    static final String ANY_GRAPH = "";

    public RecordedGraph {
        tasks = List.copyOf(tasks);
    }

    /** The arrays that live on the device while this graph runs. */
    Stream<TornadoNativeArray> arrays() {
        Stream<TornadoNativeArray> used = tasks.stream().flatMap(task -> task.arrays().stream());
        return Stream.of(used, toDevice.keySet().stream(), consumed.keySet().stream())
                .flatMap(all -> all)
                .distinct();
    }

    boolean uses(TornadoNativeArray array) {
        return tasks.stream().anyMatch(task -> task.uses(array));
    }

    boolean hasTask(String id) {
        return tasks.stream().anyMatch(task -> task.id().equals(id));
    }

    /** Names an array by the first task that uses it. */
    String describe(TornadoNativeArray array) {
        String type = "%s of %d elements".formatted(array.getClass().getSimpleName(), array.getSize());
        return tasks.stream()
                .filter(task -> task.uses(array))
                .findFirst()
                .map(task -> "argument %d of task %s (%s)".formatted(task.position(array), task.id(), type))
                .orElse("an array that no task uses (" + type + ")");
    }

    EmulatorException misuse(String message, Object... parts) {
        return new EmulatorException("graph " + name + ": " + message.formatted(parts));
    }
}
