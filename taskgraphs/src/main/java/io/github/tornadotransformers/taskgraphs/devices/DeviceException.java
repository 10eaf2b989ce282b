package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.Wording;

/** A device that cannot be used as asked. */
public final class DeviceException extends EngineException {
    public DeviceException(String message) {
        super(message);
    }

    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }

    public DeviceException(Wording wording) {
        super(wording);
    }

    public DeviceException(Wording wording, Throwable cause) {
        super(wording, cause);
    }
}
