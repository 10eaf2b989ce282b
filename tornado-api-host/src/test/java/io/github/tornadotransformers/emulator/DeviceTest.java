package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.FIRST_EXECUTION;

import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.TornadoProfilerResult;
import uk.ac.manchester.tornado.api.enums.ProfilerMode;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;
import uk.ac.manchester.tornado.api.exceptions.TornadoMemoryException;
import uk.ac.manchester.tornado.api.exceptions.TornadoOutOfMemoryException;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** Memory and measurement. */
@OnEmulator
class DeviceTest {
    private static final long BUFFER_BYTES = FloatArray.ARRAY_HEADER + 16;

    private final FloatArray in = new FloatArray(4);
    private final FloatArray out = new FloatArray(4);

    private TaskGraph graph() {
        return new TaskGraph("g")
                .transferToDevice(FIRST_EXECUTION, in)
                .task("copy", Kernels::copy, in, out, 4)
                .transferToHost(EVERY_EXECUTION, out);
    }

    private void executeOn(long memoryBytes, long maxAllocationBytes) {
        DeviceLimits limits = new DeviceLimits(TornadoDeviceType.GPU, memoryBytes, maxAllocationBytes, 64, true);
        Emulator.run(new EmulatedDevice(limits), () -> Plans.of(graph()).execute());
    }

    @Test
    void whatJustFitsRuns() {
        executeOn(2 * BUFFER_BYTES, BUFFER_BYTES + 1);
    }

    @Test
    void aBufferLargerThanTheDeviceAllowsIsRefused() {
        assertThatExceptionOfType(TornadoOutOfMemoryException.class)
                .isThrownBy(() -> executeOn(2 * BUFFER_BYTES, BUFFER_BYTES))
                .withMessageStartingWith("cannot allocate 32 bytes: 0 of 64 are used");
    }

    @Test
    void moreThanTheDeviceHoldsIsRefused() {
        assertThatExceptionOfType(TornadoOutOfMemoryException.class)
                .isThrownBy(() -> executeOn(2 * BUFFER_BYTES - 1, BUFFER_BYTES + 1))
                .withMessageStartingWith("cannot allocate 32 bytes: 32 of 63 are used");
    }

    @Test
    void aPlanRefusesMoreThanItsMemoryLimit() {
        FloatArray large = new FloatArray(300_000);
        TornadoExecutionPlan plan = Plans.of(new TaskGraph("g")
                        .transferToDevice(EVERY_EXECUTION, large)
                        .task("zero", Kernels::zero, large))
                .withMemoryLimit("1MB");
        assertThatExceptionOfType(TornadoMemoryException.class)
                .isThrownBy(plan::execute)
                .withMessage("graph g needs 1200000 bytes on the device, more than withMemoryLimit's 1000000");
    }

    @Test
    void aMemoryLimitWithoutAUnitIsRefused() {
        TornadoExecutionPlan plan = Plans.of(graph());
        assertThatThrownBy(() -> plan.withMemoryLimit("1000"))
                .hasMessage("withMemoryLimit takes a size such as 512MB or 2GB, not 1000");
    }

    @Test
    void closingAPlanReturnsItsMemory(EmulatedDevice device) throws Exception {
        try (TornadoExecutionPlan plan = Plans.of(graph())) {
            plan.execute();
            assertThat(plan.getCurrentDeviceMemoryUsage()).isEqualTo(2 * BUFFER_BYTES);
            assertThat(device.usedBytes()).isEqualTo(2 * BUFFER_BYTES);
        }
        assertThat(device.usedBytes()).isZero();
    }

    @Test
    void closingAPlanReturnsOnlyTheSelectedGraphsMemory(EmulatedDevice device) throws Exception {
        TaskGraph other = new TaskGraph("other")
                .transferToDevice(FIRST_EXECUTION, in)
                .task("zero", Kernels::zero, in)
                .transferToHost(EVERY_EXECUTION, in);
        try (TornadoExecutionPlan plan = Plans.of(graph(), other)) {
            plan.execute();
            plan.withGraph(1);
        }
        assertThat(device.usedBytes()).isEqualTo(2 * BUFFER_BYTES);
    }

    @Test
    void theDeviceCountsWhatCrossesTheBus(EmulatedDevice device) {
        TornadoExecutionPlan plan = Plans.of(graph());
        plan.execute();
        plan.execute();
        assertThat(device.bytesToDevice()).isEqualTo(16);
        assertThat(device.bytesToHost()).isEqualTo(32);
        assertThat(device.tasksRun()).isEqualTo(2);
    }

    @Test
    void theProfilerReportsTheLastExecution() {
        TornadoExecutionPlan plan = Plans.of(graph()).withProfiler(ProfilerMode.SILENT);
        plan.execute();
        TornadoProfilerResult second = plan.execute().getProfilerResult();
        assertThat(second.getTotalBytesCopyIn()).isZero();
        assertThat(second.getTotalBytesCopyOut()).isEqualTo(16);
        assertThat(second.getTotalTime()).isPositive();
    }

    @Test
    void withoutAProfilerNothingIsReported() {
        TornadoProfilerResult result = Plans.of(graph()).execute().getProfilerResult();
        assertThat(result.getTotalBytesTransferred()).isZero();
        assertThat(result.getTotalTime()).isZero();
    }
}
