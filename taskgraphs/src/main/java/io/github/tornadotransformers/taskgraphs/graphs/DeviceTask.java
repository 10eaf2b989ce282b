package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.GroupContext;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.TaskGraph;

/**
 * A kernel with its arguments.
 *
 * @param id unique within its graph
 * @param items work items: how far the kernel's parallel loop runs, or those of whole groups
 * @param group work items of a group, at most
 * @param kernel that {@code call} adds
 * @param arguments in the kernel's order
 */
public record DeviceTask(String id, long items, int group, Kernel kernel, List<Argument<?>> arguments, Call call) {
    /** Work items of a group where a kernel does not ask for another number: warps of every GPU divide it, and the smallest devices allow it. */
    public static final int GROUP = 128;

    /** Adds the kernel with the arguments' values to a graph. */
    @FunctionalInterface
    public interface Call {
        void addTo(TaskGraph graph, String id, DeviceArrays arrays);
    }

    public DeviceTask {
        arguments = List.copyOf(arguments);
    }

    void addTo(TaskGraph graph, DeviceArrays arrays) {
        call.addTo(graph, id, arrays);
    }

    /** Those arguments that are arrays, as often as they are. */
    public Stream<ArrayKey<?>> keys() {
        return arguments.stream().flatMap(DeviceTask::key);
    }

    /** Of the kernel, with its class. */
    public String kernelName() {
        Method method = kernel.method();
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    /** Those arguments that are scalars, by the names of the kernel's parameters. */
    public Map<String, Number> scalars() {
        Parameter[] parameters = kernel.method().getParameters();
        Map<String, Number> scalars = new LinkedHashMap<>();
        for (int i = 0; i < parameters.length; i++) {
            if (arguments.get(i) instanceof Scalar<?> scalar) {
                scalars.put(parameters[i].getName(), scalar.value());
            }
        }
        return scalars;
    }

    private static Stream<ArrayKey<?>> key(Argument<?> argument) {
        return switch (argument) {
            case PlannedArray<?> planned -> Stream.of(planned.key());
            case ConstantKey<?> constant -> Stream.of(constant);
            case Scalar<?> _, GroupContext _ -> Stream.empty();
        };
    }

    /** Those arguments that a plan must have. */
    Stream<PlannedArray<?>> arrays() {
        return arguments.stream()
                .flatMap(argument -> argument instanceof PlannedArray<?> planned ? Stream.of(planned) : Stream.empty());
    }
}
