package uk.ac.manchester.tornado.api;

import io.github.tornadotransformers.emulator.EmulatedGraph;
import io.github.tornadotransformers.emulator.RecordedGraph;

/** A {@link TaskGraph} as it was when its snapshot was taken, together with its arrays' copies on the device. */
public class ImmutableTaskGraph {
    private final EmulatedGraph emulated;

    ImmutableTaskGraph(RecordedGraph graph) {
        this.emulated = new EmulatedGraph(graph);
    }

    EmulatedGraph emulated() {
        return emulated;
    }
}
