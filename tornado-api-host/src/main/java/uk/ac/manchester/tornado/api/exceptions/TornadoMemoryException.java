package uk.ac.manchester.tornado.api.exceptions;

/** A buffer cannot be made on the device. */
public class TornadoMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TornadoMemoryException(String message) {
        super(message);
    }
}
