package io.github.tornadotransformers.taskgraphs.devices;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What TornadoVM's profiler says of a graph's first execution: that every task was compiled for the device and ran there, and
 * how long compiling took. Without it a task that fell back to Java would give the right answer unnoticed.
 *
 * @param kernels tasks compiled
 * @param nanos both compilers: byte code to the device's language, and the driver's
 */
public record CompileReport(int kernels, long nanos) {
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * @param tasks of the graph, as {@code graph.task}
     * @throws DeviceException if one of them did not run on {@code device}
     */
    public static CompileReport of(List<String> tasks, DeviceInfo device, String profileLog) {
        Map<String, JsonNode> profiles = taskProfiles(profileLog);
        long nanos = 0;
        for (String task : tasks) {
            JsonNode profile = profiles.get(task);
            String ranOn = profile == null ? "" : profile.path("DEVICE_ID").asText();
            if (!ranOn.equals(device.id().toString())) {
                throw new DeviceException(Wording.of(
                        "task %s did not run on %s, but %s: its result cannot be trusted; try %s host",
                        task, device, ranOn.isEmpty() ? "nowhere that TornadoVM knows" : "on " + ranOn, Term.ENGINE));
            }
            nanos += profile.path("TASK_COMPILE_GRAAL_TIME").asLong()
                    + profile.path("TASK_COMPILE_DRIVER_TIME").asLong();
        }
        return new CompileReport(tasks.size(), nanos);
    }

    /** The objects of tasks lie within those of graphs, keyed {@code graph.task}; the log is one graph's after the other. */
    private static Map<String, JsonNode> taskProfiles(String log) {
        Map<String, JsonNode> profiles = new HashMap<>();
        for (JsonNode graphs : parse(log)) {
            for (JsonNode graph : graphs) {
                graph.properties().forEach(task -> profiles.put(task.getKey(), task.getValue()));
            }
        }
        return profiles;
    }

    private static List<JsonNode> parse(String log) {
        List<JsonNode> objects = new ArrayList<>();
        try (MappingIterator<JsonNode> values = JSON.readerFor(JsonNode.class).readValues(log)) {
            values.forEachRemaining(objects::add);
        } catch (JsonProcessingException e) {
            throw new DeviceException("TornadoVM's profile cannot be read: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return objects;
    }

    public CompileReport plus(CompileReport other) {
        return new CompileReport(kernels + other.kernels, nanos + other.nanos);
    }
}
