package io.github.tornadotransformers.emulator;

import java.util.List;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** A task as it was added to its graph. */
record RecordedTask(String id, List<Object> arguments, TaskBody body) {

    RecordedTask {
        arguments = List.copyOf(arguments);
    }

    /** Whether its kernel is written for one work item of a group. */
    boolean isForGroups() {
        return !arguments.isEmpty() && arguments.getFirst() instanceof KernelContext;
    }

    boolean uses(TornadoNativeArray array) {
        return arguments.contains(array);
    }

    /** The place of {@code array} among the arguments, from 1. */
    int position(TornadoNativeArray array) {
        return arguments.indexOf(array) + 1;
    }

    /** The arrays among the arguments, each once, in order. */
    List<TornadoNativeArray> arrays() {
        return arguments.stream()
                .filter(TornadoNativeArray.class::isInstance)
                .map(TornadoNativeArray.class::cast)
                .distinct()
                .toList();
    }
}
