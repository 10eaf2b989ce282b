package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import uk.ac.manchester.tornado.api.exceptions.TornadoMemoryException;
import uk.ac.manchester.tornado.api.exceptions.TornadoOutOfMemoryException;

/** Turns what TornadoVM throws into one line that names the task, the device and the reason, and says what to try. */
public final class DeviceFailure {
    private static final Pattern NAMED_TASK = Pattern.compile("Unable to compile (?:task )?([\\w.]+\\.\\w+)");
    private static final int LONGEST_REASON = 200;

    private DeviceFailure() {}

    /**
     * @param errors what was printed meanwhile: a driver's compiler logs there
     * @param culprit looks for the task that does not compile, where the exception does not name it
     */
    public static DeviceException of(
            String graph,
            DeviceInfo device,
            Throwable failure,
            CapturedErrors errors,
            Supplier<Optional<String>> culprit) {
        if (isOutOfMemory(failure)) {
            return new DeviceException(
                    Wording.of(
                            "%s ran out of memory in %s: try a narrower %s, a shorter %s, or %s host",
                            device, graph, Term.DTYPE, Term.CONTEXT, Term.ENGINE),
                    failure);
        }
        String task = namedTask(failure).or(culprit).map(each -> "task " + each).orElse("graph " + graph);
        String reason = errors.firstError().orElseGet(() -> firstLine(failure));
        return new DeviceException(
                Wording.of("%s cannot be compiled for %s: %s; try %s host", task, device, reason, Term.ENGINE),
                failure);
    }

    private static boolean isOutOfMemory(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof TornadoOutOfMemoryException || each instanceof TornadoMemoryException) {
                return true;
            }
        }
        return String.valueOf(failure.getMessage()).contains("OutOfMemory");
    }

    private static Optional<String> namedTask(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            Matcher named = NAMED_TASK.matcher(CapturedErrors.plain(String.valueOf(each.getMessage())));
            if (named.find()) {
                return Optional.of(named.group(1));
            }
        }
        return Optional.empty();
    }

    /** The innermost reason, without the name of the exception's class. */
    private static String firstLine(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        String line = CapturedErrors.plain(String.valueOf(innermost.getMessage()))
                .lines()
                .filter(each -> !each.isBlank())
                .findFirst()
                .orElse(innermost.getClass().getSimpleName());
        return line.length() > LONGEST_REASON ? line.substring(0, LONGEST_REASON) + " …" : line;
    }
}
