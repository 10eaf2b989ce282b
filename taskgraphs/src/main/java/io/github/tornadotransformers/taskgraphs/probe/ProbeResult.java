package io.github.tornadotransformers.taskgraphs.probe;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What the probe has found on a device.
 *
 * @param findings one for each fault, a cause before what follows from it; empty where the device keeps the contract's bits
 * @param nanos that it took, compiling among them
 * @param jitNanos spent on compiling
 */
public record ProbeResult(List<Finding> findings, long nanos, long jitNanos) {
    private static final double NANOS_PER_MILLI = 1e6;

    public ProbeResult {
        findings = List.copyOf(findings);
    }

    /** Whether the device's arithmetic is what strict mode needs. */
    public boolean isExact() {
        return findings.isEmpty();
    }

    /** For a report. */
    @Override
    public String toString() {
        String verdict = isExact()
                ? "keeps the contract"
                : findings.stream().map(Finding::toString).collect(Collectors.joining("; "));
        return String.format(
                Locale.ROOT,
                "%s (probed in %.0f ms, %.0f of them compiling)",
                verdict,
                nanos / NANOS_PER_MILLI,
                jitNanos / NANOS_PER_MILLI);
    }
}
