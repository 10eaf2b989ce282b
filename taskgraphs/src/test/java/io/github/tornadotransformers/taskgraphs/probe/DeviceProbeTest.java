package io.github.tornadotransformers.taskgraphs.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.host.ExactMath;
import io.github.tornadotransformers.kernels.ProbeKernels;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel that devices run finds what is right right, and tells the ways of computing wrongly apart. */
@OnEmulator
class DeviceProbeTest {
    private static final ProbeTable TABLE = ProbeCases.table();
    private static final Arithmetic JAVAS = new Arithmetic() {};

    @Test
    void rightArithmeticHasNoFault() {
        assertThat(SimulatedDevice.run(TABLE, JAVAS).faults(TABLE)).isEmpty();
    }

    @Test
    void aDeviceIsProbedByOneTask() {
        DeviceInfo device = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
        ProbeResult result = DeviceProbe.run(device);
        assertThat(result.findings()).isEmpty();
        assertThat(result.isExact()).isTrue();
        assertThat(result.toString()).startsWith("keeps the contract (probed in ");
    }

    @ParameterizedTest
    @MethodSource("io.github.tornadotransformers.taskgraphs.probe.FaultyArithmetic#all")
    void aFaultIsFoundBeforeWhatFollowsFromIt(FaultyArithmetic faulty) {
        assertThat(SimulatedDevice.run(TABLE, faulty.arithmetic()).faults(TABLE))
                .startsWith(faulty.first());
    }

    /** As OpenCL, CUDA and PTX allow: kernels correct them. */
    @Test
    void estimatesMayBeAFewUnitsOff() {
        Arithmetic estimates = new Arithmetic() {
            @Override
            public float divide(float a, float b) {
                float quotient = a / b;
                return Float.isFinite(quotient) && quotient != 0f ? quotient + Math.ulp(quotient) : quotient;
            }

            @Override
            public float root(float a) {
                float root = (float) Math.sqrt(a);
                return Float.isFinite(root) && root != 0f ? root + 3f * Math.ulp(root) : root;
            }
        };
        assertThat(SimulatedDevice.run(TABLE, estimates).faults(TABLE)).isEmpty();
    }

    /** A compiler that knows the real numbers' laws contracts what the kernel keeps apart. */
    @Test
    void contractionIsTold() {
        SimulatedDevice.Results results = SimulatedDevice.run(TABLE, JAVAS);
        for (int slot : slots(ProbeKernels.PRODUCT_THEN_SUM)) {
            results.floats()[slot] = Math.fma(x(slot), y(slot), z(slot));
        }
        assertThat(results.faults(TABLE)).containsExactly(Fault.SIGN_OF_ZERO, Fault.CONTRACTED);
    }

    @Test
    void theOtherProductFusedIsTold() {
        SimulatedDevice.Results results = SimulatedDevice.run(TABLE, JAVAS);
        for (int slot : slots(ProbeKernels.TWO_PRODUCTS)) {
            results.floats()[slot] = Math.fma(y(slot), z(slot), x(slot) * y(slot));
        }
        assertThat(results.faults(TABLE)).containsExactly(Fault.CONTRACTED);
    }

    @Test
    void thereAndBackLeftOutIsTold() {
        SimulatedDevice.Results results = SimulatedDevice.run(TABLE, JAVAS);
        for (int slot : slots(ProbeKernels.THERE_AND_BACK)) {
            results.floats()[slot] = x(slot) * y(slot);
        }
        assertThat(results.faults(TABLE)).containsExactly(Fault.ORDER);
    }

    /** As many lanes, each with its part of the terms, and then the lanes in halves; 16 are a tree of all terms. */
    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8, 16})
    void aSumInLanesIsTold(int lanes) {
        for (int operation : new int[] {ProbeKernels.SUM_OF_TERMS, ProbeKernels.SUM_OF_PRODUCTS}) {
            SimulatedDevice.Results results = SimulatedDevice.run(TABLE, JAVAS);
            for (int slot : slots(operation)) {
                float[] sums = new float[lanes];
                for (int k = 0; k < terms(slot); k++) {
                    sums[k % lanes] = joined(operation, slot, k, sums[k % lanes]);
                }
                for (int half = lanes / 2; half > 0; half /= 2) {
                    for (int lane = 0; lane < half; lane++) {
                        sums[lane] += sums[lane + half];
                    }
                }
                results.floats()[slot] = sums[0];
            }
            assertThat(results.faults(TABLE)).containsExactly(Fault.ORDER);
        }
    }

    @Test
    void aSumFromTheRightIsTold() {
        for (int operation : new int[] {ProbeKernels.SUM_OF_TERMS, ProbeKernels.SUM_OF_PRODUCTS}) {
            SimulatedDevice.Results results = SimulatedDevice.run(TABLE, JAVAS);
            for (int slot : slots(operation)) {
                float sum = 0f;
                for (int k = terms(slot) - 1; k >= 0; k--) {
                    sum = joined(operation, slot, k, sum);
                }
                results.floats()[slot] = sum;
            }
            assertThat(results.faults(TABLE)).containsExactly(Fault.ORDER);
        }
    }

    private static float joined(int operation, int slot, int term, float sum) {
        int at = slot % ProbeKernels.CASES * ProbeKernels.TERMS + term;
        float t = TABLE.terms().getAtIndex(ValueLayout.JAVA_FLOAT, at);
        int second = ProbeKernels.CASES * ProbeKernels.TERMS + at;
        return operation == ProbeKernels.SUM_OF_TERMS
                ? sum + t
                : Math.fma(t, TABLE.terms().getAtIndex(ValueLayout.JAVA_FLOAT, second), sum);
    }

    private static int terms(int slot) {
        return TABLE.ints().getAtIndex(ValueLayout.JAVA_INT, ProbeKernels.CASES + slot % ProbeKernels.CASES);
    }

    /** One wrong bit anywhere is found, as what it is. */
    @Test
    void everyCaseCounts() {
        SimulatedDevice.Results right = SimulatedDevice.run(TABLE, JAVAS);
        for (ProbeCase each : TABLE.cases()) {
            float[] floats = right.floats().clone();
            int[] wholes = right.wholes().clone();
            switch (each.kind()) {
                case FLOAT ->
                    floats[each.slot()] = Float.isNaN(floats[each.slot()]) ? 0f : -Math.nextUp(floats[each.slot()]);
                case INT -> wholes[each.slot()]++;
            }
            assertThat(DeviceProbe.judge(TABLE.cases(), floats, wholes))
                    .as(each.expression())
                    .extracting(Finding::fault)
                    .containsExactly(each.fault());
        }
    }

    @Test
    void everyFaultAndEveryOperationHasCases() {
        assertThat(TABLE.cases().stream().map(ProbeCase::fault).collect(Collectors.toSet()))
                .isEqualTo(EnumSet.allOf(Fault.class));
        Set<Integer> operations = TABLE.cases().stream()
                .map(each -> each.slot() / ProbeKernels.CASES)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(operations).hasSize(ProbeKernels.OPERATIONS);
        assertThat(TABLE.cases().stream().map(each -> each.kind() + " " + each.slot()))
                .doesNotHaveDuplicates();
    }

    @Test
    void exponentialsAreTheHosts() {
        for (int slot : slots(ProbeKernels.EXP)) {
            ProbeCase of = TABLE.cases().stream()
                    .filter(each -> each.slot() == slot)
                    .findFirst()
                    .orElseThrow();
            assertThat(of.bits()).as(of.expression()).isEqualTo(Float.floatToIntBits(ExactMath.exp(x(slot))));
        }
    }

    @Test
    void aFindingSaysWhatWasFoundAndWhatIsRight() {
        SimulatedDevice.Results results = SimulatedDevice.run(TABLE, faulty("rounds products"));
        assertThat(DeviceProbe.judge(TABLE.cases(), results.floats(), results.wholes())
                        .getFirst())
                .hasToString(
                        "rounds a product before it is added (fma(1.0000001, 1.0000001, -1.0000002) gives 0.0 instead"
                                + " of 1.4210855E-14)");
    }

    private static Arithmetic faulty(String name) {
        return FaultyArithmetic.all()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow()
                .arithmetic();
    }

    private static List<Integer> slots(int operation) {
        return TABLE.cases().stream()
                .map(ProbeCase::slot)
                .filter(slot -> slot / ProbeKernels.CASES == operation)
                .toList();
    }

    private static float x(int slot) {
        return TABLE.x().getAtIndex(ValueLayout.JAVA_FLOAT, slot);
    }

    private static float y(int slot) {
        return TABLE.y().getAtIndex(ValueLayout.JAVA_FLOAT, slot);
    }

    private static float z(int slot) {
        return TABLE.z().getAtIndex(ValueLayout.JAVA_FLOAT, slot);
    }
}
