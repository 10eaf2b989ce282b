package uk.ac.manchester.tornado.api.exceptions;

/** A graph or a plan cannot be executed. */
public class TornadoRuntimeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TornadoRuntimeException(String message) {
        super(message);
    }

    public TornadoRuntimeException(Exception cause) {
        super(cause);
    }
}
