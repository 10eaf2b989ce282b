package uk.ac.manchester.tornado.api.exceptions;

/** TornadoVM found itself in a state that it does not expect. */
public class TornadoInternalError extends Error {
    private static final long serialVersionUID = 1L;

    public TornadoInternalError(Throwable cause) {
        super(cause);
    }
}
