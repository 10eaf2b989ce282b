package io.github.tornadotransformers.runner.engines;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device as {@code tornado --devices} describes it.
 *
 * @param id what {@code --device} takes
 * @param globalMemory with its unit
 * @param localMemory with its unit, of a work-group
 */
public record TornadoDevice(
        String id,
        String backend,
        String platform,
        String name,
        String globalMemory,
        String localMemory,
        boolean isDefault) {
    private static final Pattern COLOUR = Pattern.compile("\u001B\\[[0-9;]*m");
    private static final Pattern BLOCK = Pattern.compile("(?m)^(?=\\s*Tornado device=)");
    private static final Pattern DEVICE = Pattern.compile("\\s*Tornado device=(\\d+:\\d+)\\s*(\\(DEFAULT\\))?.*");
    private static final Pattern NAME = Pattern.compile("\\s*(\\w+) -- +\\[?(.*?)\\]? -- (.*)");
    private static final Pattern GLOBAL_MEMORY = Pattern.compile("\\s*Global Memory Size:\\s*(.*)");
    private static final Pattern LOCAL_MEMORY = Pattern.compile("\\s*Local Memory Size:\\s*(.*)");

    /** The devices in what {@code tornado --devices} prints. */
    static List<TornadoDevice> parse(String output) {
        List<TornadoDevice> devices = new ArrayList<>();
        for (String block : BLOCK.split(COLOUR.matcher(output).replaceAll(""), -1)) {
            List<String> lines = block.lines().toList();
            Matcher device = DEVICE.matcher(lines.isEmpty() ? "" : lines.getFirst());
            Matcher name = first(NAME, lines);
            if (device.matches() && name != null) {
                devices.add(new TornadoDevice(
                        device.group(1),
                        name.group(1),
                        name.group(2).strip(),
                        name.group(3).strip(),
                        text(first(GLOBAL_MEMORY, lines)),
                        text(first(LOCAL_MEMORY, lines)),
                        device.group(2) != null));
            }
        }
        return devices;
    }

    private static Matcher first(Pattern pattern, List<String> lines) {
        for (String line : lines) {
            Matcher matcher = pattern.matcher(line);
            if (matcher.matches()) {
                return matcher;
            }
        }
        return null;
    }

    private static String text(Matcher matcher) {
        return matcher == null ? "unknown" : matcher.group(1).strip();
    }

    /** One line for a reader. */
    public String describe() {
        return id + "  " + backend + "  " + name + " (" + platform + "), memory " + globalMemory + ", local "
                + localMemory + (isDefault ? ", default" : "");
    }
}
