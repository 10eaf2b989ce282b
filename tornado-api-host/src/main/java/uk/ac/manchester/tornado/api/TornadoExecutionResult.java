package uk.ac.manchester.tornado.api;

import io.github.tornadotransformers.emulator.EmulatedPlan;

/** What an execution left on the device and measured; it speaks of the graphs that the plan has selected now. */
public class TornadoExecutionResult {
    private final EmulatedPlan plan;

    TornadoExecutionResult(EmulatedPlan plan) {
        this.plan = plan;
    }

    /** Copies arrays, declared {@code UNDER_DEMAND} or persisted, from the device to the host. */
    public TornadoExecutionResult transferToHost(Object... objects) {
        plan.transferToHost(objects);
        return this;
    }

    /** Whether the execution has ended. */
    public boolean isReady() {
        return true;
    }

    public TornadoProfilerResult getProfilerResult() {
        return new TornadoProfilerResult(plan);
    }
}
