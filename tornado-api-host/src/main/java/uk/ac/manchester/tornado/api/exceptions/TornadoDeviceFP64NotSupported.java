package uk.ac.manchester.tornado.api.exceptions;

/** A kernel computes in double on a device that cannot. */
public class TornadoDeviceFP64NotSupported extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TornadoDeviceFP64NotSupported(String message) {
        super(message);
    }
}
