package io.github.tornadotransformers.taskgraphs.devices;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/**
 * A file descriptor of the process that is written to memory while anyone holds it, so that what native code prints there can be
 * read. What is not meant for the holders, such as output of other threads, is passed on whenever one of them lets go, at the
 * latest when the JVM ends.
 */
final class HeldOutput {
    /** Bytes are passed on as they are, whatever their charset. */
    private static final Charset BYTES = StandardCharsets.ISO_8859_1;

    private final Descriptors descriptors = new Descriptors();
    private final int descriptor;
    private final UnaryOperator<String> meantForOthers;
    private final int memory;
    private int holders;
    private int before;
    private long passedOn;
    private boolean ended;

    /** @param meantForOthers what is to be passed on of what was written */
    HeldOutput(int descriptor, UnaryOperator<String> meantForOthers) throws IOException {
        this.descriptor = descriptor;
        this.meantForOthers = meantForOthers;
        this.memory = descriptors.createInMemory();
    }

    /** @return where in the memory this holder's output begins */
    synchronized long hold() throws IOException {
        if (holders == 0 && !ended) {
            before = descriptors.duplicate(descriptor);
            descriptors.replace(descriptor, memory);
        }
        holders++;
        return holders == 1 ? passedOn : descriptors.size(memory);
    }

    /** What was written since. */
    synchronized String since(long start) throws IOException {
        return text(start, descriptors.size(memory));
    }

    /** @return what was written since the hold that began at {@code start} */
    synchronized String letGo(long start) throws IOException {
        holders--;
        if (ended) {
            return "";
        }
        if (holders == 0) {
            descriptors.replace(descriptor, before);
        }
        long end = descriptors.size(memory);
        String written = text(start, end);
        if (end > passedOn) {
            passOn(end);
        }
        if (holders == 0) {
            descriptors.close(before);
        }
        return written;
    }

    /** Lets go for everyone, for good: the JVM ends. */
    synchronized void end() throws IOException {
        if (holders > 0 && !ended) {
            descriptors.replace(descriptor, before);
            passOn(descriptors.size(memory));
        }
        ended = true;
    }

    private String text(long start, long end) throws IOException {
        return start == end ? "" : new String(descriptors.read(memory, start, end), BYTES);
    }

    private void passOn(long end) throws IOException {
        byte[] others = meantForOthers.apply(text(passedOn, end)).getBytes(BYTES);
        passedOn = end;
        try {
            descriptors.write(before, others);
        } catch (IOException _) {
            // Nobody reads it any more: the next who prints will know.
        }
        if (holders == 0) {
            descriptors.forget(memory, end);
        }
    }
}
