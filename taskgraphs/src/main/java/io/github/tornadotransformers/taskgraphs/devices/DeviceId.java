package io.github.tornadotransformers.taskgraphs.devices;

/**
 * A device as TornadoVM counts: {@code D:I}.
 *
 * @param backend index of the backend
 * @param index of the device within it
 */
public record DeviceId(int backend, int index) {
    /** @throws DeviceException if the text is not two numbers with a colon between */
    public static DeviceId parse(String text) {
        String[] parts = text.split(":", -1);
        try {
            if (parts.length == 2) {
                return new DeviceId(Integer.parseUnsignedInt(parts[0]), Integer.parseUnsignedInt(parts[1]));
            }
        } catch (NumberFormatException _) {
            // Falls through to the message below.
        }
        throw new DeviceException(
                "device " + text + " is not of the form D:I, such as 0:0: ./transformers devices lists them");
    }

    @Override
    public String toString() {
        return backend + ":" + index;
    }
}
