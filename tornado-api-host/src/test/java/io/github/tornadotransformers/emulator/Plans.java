package io.github.tornadotransformers.emulator;

import java.util.Arrays;
import uk.ac.manchester.tornado.api.ImmutableTaskGraph;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;

/** Plans for the tests of the emulator. */
final class Plans {

    private Plans() {}

    static TornadoExecutionPlan of(TaskGraph... graphs) {
        return new TornadoExecutionPlan(
                Arrays.stream(graphs).map(TaskGraph::snapshot).toArray(ImmutableTaskGraph[]::new));
    }
}
