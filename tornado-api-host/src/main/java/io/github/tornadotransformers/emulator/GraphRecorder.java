package io.github.tornadotransformers.emulator;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.exceptions.TornadoTaskRuntimeException;
import uk.ac.manchester.tornado.api.types.HalfFloat;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Records the calls that build a graph, and refuses those that cannot mean anything on a device. */
public final class GraphRecorder {
    private final String name;
    private final List<RecordedTask> tasks = new ArrayList<>();
    private final Map<TornadoNativeArray, Transfer> toDevice = new LinkedHashMap<>();
    private final Set<TornadoNativeArray> toHost = new LinkedHashSet<>();
    private final Set<TornadoNativeArray> kept = new LinkedHashSet<>();
    private final Map<TornadoNativeArray, String> consumed = new LinkedHashMap<>();

    public GraphRecorder(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    /**
     * Adds a task.
     *
     * @param code the method reference or lambda as the caller wrote it
     * @param body calls {@code code}
     * @throws TornadoTaskRuntimeException if the graph has a task of that name
     */
    public void task(String id, Object code, TaskBody body, List<?> arguments) {
        if (tasks.stream().anyMatch(task -> task.id().equals(id))) {
            throw new TornadoTaskRuntimeException("graph %s: there is a task %s already".formatted(name, id));
        }
        requireKernel(id, code);
        for (int i = 0; i < arguments.size(); i++) {
            requireArrayOrScalar(id, i + 1, arguments.get(i));
        }
        tasks.add(new RecordedTask(id, List.copyOf(arguments), body));
    }

    private void requireKernel(String id, Object code) {
        boolean captures = Arrays.stream(code.getClass().getDeclaredFields())
                .anyMatch(field -> !Modifier.isStatic(field.getModifiers()));
        if (captures || !code.getClass().isHidden()) {
            throw misuse(
                    "task %s: its method must be a reference to a static method, or a lambda that captures nothing",
                    id);
        }
    }

    private void requireArrayOrScalar(String id, int position, Object argument) {
        switch (argument) {
            case TornadoNativeArray _, HalfFloat _, KernelContext _ -> {}
            case Byte _, Short _, Integer _, Long _, Float _, Double _, Boolean _, Character _ -> {}
            case null -> throw misuse("task %s: argument %d is null", id, position);
            default ->
                throw misuse(
                        "task %s: argument %d is a %s; a device takes numbers and TornadoVM's arrays",
                        id, position, argument.getClass().getName());
        }
    }

    public void transferToDevice(int mode, Object... objects) {
        Transfer transfer = Transfer.of(mode, name);
        for (TornadoNativeArray array : arrays("transferToDevice", objects)) {
            if (toDevice.putIfAbsent(array, transfer) != null) {
                throw misuse("transferToDevice names an array twice (%s)", size(array));
            }
        }
    }

    public void transferToHost(int mode, Object... objects) {
        List<TornadoNativeArray> arrays = arrays("transferToHost", objects);
        switch (Transfer.of(mode, name)) {
            case UNDER_DEMAND -> kept.addAll(arrays);
            case EVERY_EXECUTION -> toHost.addAll(arrays);
            case FIRST_EXECUTION ->
                throw misuse(
                        "transferToHost knows no FIRST_EXECUTION, TornadoVM copies each time: say EVERY_EXECUTION");
        }
    }

    public void consumeFromDevice(Object... objects) {
        consumeFromDevice(RecordedGraph.ANY_GRAPH, objects);
    }

    public void consumeFromDevice(String source, Object... objects) {
        for (TornadoNativeArray array : arrays("consumeFromDevice", objects)) {
            if (consumed.putIfAbsent(array, source) != null) {
                throw misuse("consumeFromDevice names an array twice (%s)", size(array));
            }
        }
    }

    private List<TornadoNativeArray> arrays(String call, Object... objects) {
        List<TornadoNativeArray> arrays = new ArrayList<>();
        for (Object object : objects) {
            if (!(object instanceof TornadoNativeArray array)) {
                throw misuse("%s is given %s, which is no TornadoVM array", call, object);
            }
            arrays.add(array);
        }
        return arrays;
    }

    /** The graph so far. */
    public RecordedGraph freeze() {
        RecordedGraph graph = new RecordedGraph(
                name,
                tasks,
                Collections.unmodifiableMap(new LinkedHashMap<>(toDevice)),
                Collections.unmodifiableSet(new LinkedHashSet<>(toHost)),
                Collections.unmodifiableSet(new LinkedHashSet<>(kept)),
                Collections.unmodifiableMap(new LinkedHashMap<>(consumed)));
        requireSense(graph);
        return graph;
    }

    private void requireSense(RecordedGraph graph) {
        if (tasks.isEmpty()) {
            throw misuse("it has no task");
        }
        toDevice.forEach((array, transfer) -> {
            if (consumed.containsKey(array)) {
                throw misuse(
                        "%s is both transferred and consumed; TornadoVM ignores the transfer", graph.describe(array));
            }
            if (transfer == Transfer.FIRST_EXECUTION && !graph.uses(array)) {
                throw misuse("no task uses a transferred array (%s); TornadoVM would not copy it", size(array));
            }
        });
        toHost.forEach(array -> {
            if (!graph.uses(array)) {
                throw misuse(
                        "transferToHost names an array that no task uses (%s); TornadoVM would not copy it",
                        size(array));
            }
        });
        kept.forEach(array -> {
            if (!graph.uses(array) && !consumed.containsKey(array)) {
                throw misuse(
                        "an array that no task uses (%s) is to stay on the device; it is never there", size(array));
            }
        });
    }

    private static String size(TornadoNativeArray array) {
        return "%s of %d elements".formatted(array.getClass().getSimpleName(), array.getSize());
    }

    private EmulatorException misuse(String message, Object... parts) {
        return new EmulatorException("graph " + name + ": " + message.formatted(parts));
    }
}
