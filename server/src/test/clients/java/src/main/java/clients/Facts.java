package clients;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What was found, a JSON object in a line each. */
final class Facts {
    private static final Pattern MESSAGE = Pattern.compile("\"message\":\"([^\"]*)\"");

    private Facts() {}

    static void say(String name, Object value) throws IOException {
        System.out.println(new JsonMapper().writeValueAsString(Map.of(name, value)));
        System.out.flush();
    }

    /** A client that waits for an answer, and is refused. */
    static void refused(String name, Runnable call) throws IOException {
        try {
            call.run();
        } catch (RuntimeException e) {
            Matcher json = MESSAGE.matcher(String.valueOf(e.getMessage()));
            say(name, json.find() ? json.group(1) : e.getMessage());
        }
    }

    static void waitForTheEnd() throws IOException {
        System.in.readAllBytes();
        System.exit(0); // whatever threads a client keeps
    }
}
