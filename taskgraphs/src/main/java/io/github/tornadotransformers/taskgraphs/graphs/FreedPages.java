package io.github.tornadotransformers.taskgraphs.graphs;

import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Is told of memory in which nobody's keys and values are any more; a test overwrites it. */
@FunctionalInterface
interface FreedPages {
    /** Leaves it as it is. */
    FreedPages NONE = (_, _, _) -> {};

    /** On the device, elements {@code [first, first + count)} of {@code array} are a free page of a layer. */
    void freed(TornadoNativeArray array, int first, int count);
}
