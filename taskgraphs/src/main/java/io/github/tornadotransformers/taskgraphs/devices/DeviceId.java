package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device as TornadoVM counts: {@code D:I}.
 *
 * @param backend index of the backend
 * @param index of the device within it
 */
public record DeviceId(int backend, int index) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,4}):(\\d{1,4})");

    /** @throws InvalidRequest if the text is not two numbers with a colon between */
    public static DeviceId parse(String text) {
        Matcher numbers = FORM.matcher(text);
        if (numbers.matches()) {
            return new DeviceId(Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)));
        }
        throw new InvalidRequest(Wording.of("%s is %s, expected two numbers as in 0:1", Term.DEVICE, text));
    }

    @Override
    public String toString() {
        return backend + ":" + index;
    }
}
