package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.exceptions.TornadoRuntimeException;

/** A graph, a plan or a grid is used in a way that TornadoVM would answer with wrong results, in silence or with a crash. */
public final class EmulatorException extends TornadoRuntimeException {
    private static final long serialVersionUID = 1L;

    EmulatorException(String message) {
        super(message);
    }
}
