package io.github.tornadotransformers.taskgraphs.devices;

/** A device that cannot be used as asked. The message is one line for the user: what was found, what was expected, what to do. */
public final class DeviceException extends RuntimeException {
    public DeviceException(String message) {
        super(message);
    }

    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }
}
