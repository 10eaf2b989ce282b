package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;

/**
 * A device as TornadoVM counts: {@code D:I}.
 *
 * @param backend index of the backend
 * @param index of the device within it
 */
public record DeviceId(int backend, int index) {
    /** @throws InvalidRequest if the text is not two numbers with a colon between */
    public static DeviceId parse(String text) {
        String[] parts = text.split(":", -1);
        try {
            if (parts.length == 2) {
                return new DeviceId(Integer.parseUnsignedInt(parts[0]), Integer.parseUnsignedInt(parts[1]));
            }
        } catch (NumberFormatException _) {
            // Falls through to the message below.
        }
        throw new InvalidRequest(Wording.of("%s is %s, expected two numbers as in 0:1", Term.DEVICE, text));
    }

    @Override
    public String toString() {
        return backend + ":" + index;
    }
}
