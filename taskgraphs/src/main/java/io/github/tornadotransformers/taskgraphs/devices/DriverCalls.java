package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.io.IOException;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The driver's calls while this is open. TornadoVM's OpenCL, CUDA and PTX backends print that a call failed, on the process's
 * standard output, and go on: after a failed copy a kernel would compute with what was there before. Here it is an error. Where
 * standard output cannot be read back, on other systems than Linux or without access to native code, it stays a print.
 */
public final class DriverCalls implements AutoCloseable {
    private static final int STANDARD_OUTPUT = 1;

    /** As in {@code cuda_jni.h}, {@code ptx_log.h} and {@code ocl_log.h} of TornadoVM: the call, then what it returned. */
    private static final Pattern FAILED =
            Pattern.compile("\t?\\[TornadoVM-[\\w-]+-JNI] ERROR : ([^\n]+?) -> Returned: ([^\n]*)\n");

    /** As in {@code CUDAProgram.cpp} of TornadoVM: a compiler's log with its end. The exception that follows has the error. */
    private static final Pattern COMPILER_LOG =
            Pattern.compile("\\[TornadoVM-CUDA-JNI] NVRTC compilation failed:\n[^\0]*\0\n");

    /** Calls that no result depends on: pinned memory, without which copies are slower, times, and watts. */
    private static final Pattern HARMLESS =
            Pattern.compile("(cuMemHost|cuEventElapsedTime|clGetEventProfilingInfo|nvml).*");

    private final DeviceInfo device;
    private final Optional<HeldOutput> output;
    private final long start;
    private boolean told;

    private DriverCalls(DeviceInfo device, Optional<HeldOutput> output) {
        this.device = device;
        this.output = output;
        this.start = output.map(DriverCalls::hold).orElse(0L);
    }

    /** Watches a device's calls until it is closed. */
    public static DriverCalls of(DeviceInfo device) {
        boolean printed = device.backend() != Backend.VIRTUAL && device.backend() != Backend.METAL;
        return new DriverCalls(device, printed ? OfProcess.OUTPUT : Optional.empty());
    }

    static DriverCalls of(DeviceInfo device, HeldOutput output) {
        return new DriverCalls(device, Optional.of(output));
    }

    /** What of an output is no report of a failed call, and no compiler's log. */
    static String withoutReports(String output) {
        return COMPILER_LOG.matcher(FAILED.matcher(output).replaceAll("")).replaceAll("");
    }

    /** @throws DeviceException if a call failed so far, on which the results of {@code graph} depend */
    public void requireSuccess(String graph) {
        Optional<String> failed = FAILED.matcher(output.map(this::printedTo).orElse(""))
                .results()
                .filter(call -> !HARMLESS.matcher(call.group(1)).matches())
                .map(call -> call.group(1) + " returned " + call.group(2))
                .findFirst();
        if (failed.isPresent()) {
            told = true;
            throw new DeviceException(Wording.of(
                    "graph %s failed on %s: %s; its results cannot be trusted, try %s host",
                    graph, device, failed.get(), Term.ENGINE));
        }
    }

    /** What has failed so far is done in another way: nobody needs to read of it. */
    public void forgive() {
        told = true;
    }

    /** Reports that {@link #requireSuccess} has not thrown, and that are not forgiven, go to {@link System#err}: they are no result. */
    @Override
    public void close() {
        String reports = FAILED.matcher(output.map(this::letGo).orElse(""))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.joining());
        if (!told) {
            System.err.print(reports);
        }
    }

    private static long hold(HeldOutput output) {
        try {
            return output.hold();
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private String printedTo(HeldOutput output) {
        try {
            return output.since(start);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private String letGo(HeldOutput output) {
        try {
            return output.letGo(start);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private static DeviceException unreadable(IOException e) {
        return new DeviceException(
                "standard output cannot be watched for failed calls of the driver: " + e.getMessage(), e);
    }

    /** A process has one standard output, whoever watches it. */
    private static final class OfProcess {
        static final Optional<HeldOutput> OUTPUT = Descriptors.areAvailable() ? open() : Optional.empty();

        private static Optional<HeldOutput> open() {
            try {
                HeldOutput output = new HeldOutput(STANDARD_OUTPUT, DriverCalls::withoutReports);
                Runtime.getRuntime().addShutdownHook(new Thread(() -> end(output), "standard output"));
                return Optional.of(output);
            } catch (IOException | IllegalStateException _) {
                // No memory for it, or the JVM is about to end.
                return Optional.empty();
            }
        }

        private static void end(HeldOutput output) {
            try {
                output.end();
            } catch (IOException e) {
                throw unreadable(e);
            }
        }
    }
}
