package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a device runs for one token of one sequence, as graphs describe it: nothing of TornadoVM is needed to ask. */
public final class TokenTasks {
    private TokenTasks() {}

    /**
     * Every graph, in running order, with how often it is executed.
     *
     * @param program of as many positions as the cache has
     * @param types in what its matrices are kept
     * @throws DeviceException if only some layers have a weight
     */
    public static Map<DeviceGraph, Integer> of(Program program, MatrixTypes types, DeviceOptions options) {
        WeightsOfSomeLayers.refuse(program);
        int pages = AttentionShape.pages(program.contextLength());
        DeviceModel model = DeviceModel.of(program, types, options.kvType(), options.math(), options.device(), pages);
        GraphChain chain = new GraphSet(model, options.graph(), ChainRows.ofOne(program, 1), false).decode();
        List<DeviceGraph> executed = new ArrayList<>(chain.before());
        chain.layers().forEach(layer -> executed.addAll(layer.graphs()));
        executed.addAll(chain.head());
        Map<DeviceGraph, Integer> times = new LinkedHashMap<>();
        executed.forEach(graph -> times.merge(graph, 1, Integer::sum));
        return times;
    }
}
