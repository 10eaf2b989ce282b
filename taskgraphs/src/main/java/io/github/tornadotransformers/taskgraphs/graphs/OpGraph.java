package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Op;
import java.util.Optional;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * A graph in a chain.
 *
 * @param traced the Op that is all of it, where Ops are traced
 */
record OpGraph(StageGraph graph, Optional<Trace> traced) {
    /** An Op and the array of its output. */
    record Trace(Op op, FloatArray output) {}
}
