package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import io.github.tornadotransformers.models.Quoted;
import java.util.regex.Pattern;

/** Where and why a text is not JSON, on one line. */
public final class JsonFault {
    /** What Jackson adds for programmers: names of its features, constraints and sources. */
    private static final Pattern ASIDE = Pattern.compile(
            "\\s*\\((?:not recognized|start marker|for ).*|: enable `.*|, from `[^`]*`", Pattern.DOTALL);

    private JsonFault() {}

    /** @return {@code " at line 1, column 2: the reason"}, to stand behind a file's name */
    public static String describe(JacksonException fault) {
        JsonLocation location = fault.getLocation();
        String place = location == null || location.getLineNr() < 1
                ? ""
                : " at line " + location.getLineNr() + ", column " + location.getColumnNr();
        return place + ": "
                + Quoted.line(ASIDE.matcher(fault.getOriginalMessage()).replaceAll(""));
    }
}
