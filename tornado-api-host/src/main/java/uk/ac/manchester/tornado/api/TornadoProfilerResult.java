package uk.ac.manchester.tornado.api;

import io.github.tornadotransformers.emulator.EmulatedPlan;

/**
 * Times, in nanoseconds, and sizes, in bytes, of the last execution of the selected graphs; zeros unless the plan profiles.
 * Nothing is compiled here, so the times of compilation are zero.
 */
public class TornadoProfilerResult {
    private final EmulatedPlan plan;

    TornadoProfilerResult(EmulatedPlan plan) {
        this.plan = plan;
    }

    /** From the start of the execution to its end. */
    public long getTotalTime() {
        return plan.profile().totalNanos();
    }

    /** Both parts of compilation: {@link #getTornadoCompilerTime} and {@link #getDriverInstallTime}. */
    public long getCompileTime() {
        return getTornadoCompilerTime() + getDriverInstallTime();
    }

    /** From byte code to the backend's source. */
    public long getTornadoCompilerTime() {
        return 0;
    }

    /** The driver's compiler. */
    public long getDriverInstallTime() {
        return 0;
    }

    public long getDataTransfersTime() {
        return getDeviceWriteTime() + getDeviceReadTime();
    }

    /** Copies to the device. */
    public long getDeviceWriteTime() {
        return plan.profile().writeNanos();
    }

    /** Copies to the host. */
    public long getDeviceReadTime() {
        return plan.profile().readNanos();
    }

    /** All tasks together. */
    public long getDeviceKernelTime() {
        return plan.profile().kernelNanos();
    }

    public long getTotalBytesCopyIn() {
        return plan.profile().bytesToDevice();
    }

    /** Without copies under demand. */
    public long getTotalBytesCopyOut() {
        return plan.profile().bytesToHost();
    }

    public long getTotalBytesTransferred() {
        return getTotalBytesCopyIn() + getTotalBytesCopyOut();
    }

    /** JSON, an object for each graph in which every task has one: its device, and how long it took to compile and to run. */
    public String getProfileLog() {
        return plan.profileLog();
    }
}
