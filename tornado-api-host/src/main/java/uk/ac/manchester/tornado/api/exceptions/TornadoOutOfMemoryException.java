package uk.ac.manchester.tornado.api.exceptions;

/** The device's memory, or what TornadoVM may use of it, is used up. */
public class TornadoOutOfMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TornadoOutOfMemoryException(String message) {
        super(message);
    }
}
