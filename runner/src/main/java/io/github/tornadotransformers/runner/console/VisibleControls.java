package io.github.tornadotransformers.runner.console;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Passes UTF-8 on to a terminal so that control characters are shown instead of obeyed: as {@code \}{@code u001b}, all but
 * newline and tab. What a model, a hub or a file's name says must not move the cursor, or worse.
 */
final class VisibleControls extends FilterOutputStream {
    /** In UTF-8 the first byte of the characters from U+0080 to U+00BF, of which the first half are controls. */
    private static final int C1_LEAD = 0xC2;

    private static final int C1_FIRST = 0x80;
    private static final int C1_LAST = 0x9F;
    private static final int DELETE = 0x7F;

    private boolean afterLead;

    VisibleControls(OutputStream terminal) {
        super(new BufferedOutputStream(terminal));
    }

    @Override
    public synchronized void write(int value) throws IOException {
        int unsigned = value & 0xFF;
        if (afterLead) {
            afterLead = false;
            if (unsigned >= C1_FIRST && unsigned <= C1_LAST) {
                show(unsigned);
                return;
            }
            out.write(C1_LEAD);
        }
        if (unsigned == C1_LEAD) {
            afterLead = true;
        } else if (isControl(unsigned)) {
            show(unsigned);
        } else {
            out.write(unsigned);
        }
    }

    private static boolean isControl(int value) {
        return (value < ' ' && value != '\n' && value != '\t') || value == DELETE;
    }

    private void show(int control) throws IOException {
        out.write(String.format(Locale.ROOT, "\\u%04x", control).getBytes(StandardCharsets.US_ASCII));
    }
}
