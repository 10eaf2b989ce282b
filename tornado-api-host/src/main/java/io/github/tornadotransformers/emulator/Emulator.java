package io.github.tornadotransformers.emulator;

import java.security.CodeSource;
import java.util.Objects;
import java.util.Optional;
import uk.ac.manchester.tornado.api.TaskGraph;

/**
 * Runs task graphs without TornadoVM, for tests.
 *
 * <p>Outside {@link #run} and {@link #call} the stand-in has no backend and no device, and a plan cannot be made: no program shows
 * the emulator to its user as a device unless it calls this class. Inside, there is one backend with one {@link EmulatedDevice}.
 * That holds for the calling thread; a plan made inside works anywhere.
 *
 * <p>What is emulated, more strictly than TornadoVM, which keeps silent about most of it:
 *
 * <ul>
 *   <li>Each array of a graph has memory of its own on the device, filled with {@link Poison} until a transfer or a task writes to
 *       it. A task gets that memory instead of the array, and scalars as they were when the task was added. A task that uses an
 *       array that neither a transfer nor a task ever wrote to fails.
 *   <li>{@code FIRST_EXECUTION} copies at the graph's first execution, again after its memory was freed; {@code EVERY_EXECUTION}
 *       each time; {@code UNDER_DEMAND} to the device never, to the host when an execution's result is asked for it.
 *   <li>An array that no transfer names and that is neither persisted nor consumed is gone after the execution, and refused in a plan that is
 *       replayed.
 *   <li>Two graphs have separate memory for the same array, unless one persists it and the other consumes it and is executed next,
 *       each by an {@code execute()} of its own. A graph executed again right after itself keeps what it consumed. What a graph consumes must be
 *       in the memory where it was at the graph's first execution: a driver that replays the graph does not look elsewhere.
 *   <li>Items of a task run backwards, shuffled or in the order of the loop, another at each execution. What they read and write is
 *       logged at a graph's first execution, and at its second, fourth, eighth …: two items of which one writes what the other reads
 *       or writes too, be it by way of two arguments that are one array, are refused.
 *   <li>A kernel that takes a {@code KernelContext} runs once for each item of the grid that it must have: group after group, the
 *       items of a group one at a time from barrier to barrier. Local memory holds poison. Items that end where others of their group
 *       wait at a barrier are refused.
 *   <li>A result is refused that no later task reads, and that is neither copied, persisted nor another graph's.
 *   <li>A grid's key must be a task's, its sizes positive, its groups a divisor and no larger than the device allows; it covers the
 *       task's parallel loop, with less than a group to spare.
 *   <li>Buffers count against the device's memory and its largest allocation.
 * </ul>
 *
 * <p>What is not emulated:
 *
 * <ul>
 *   <li>Items run one after the other, and nothing is compiled. A kernel has one parallel loop at most. Who reads and writes local memory is
 *       not logged.
 *   <li>TornadoVM copies to the host only arrays that a task of the same graph writes, and leaves out a transfer to the device if
 *       the first task that uses the array only writes it, be it in part.
 * </ul>
 */
public final class Emulator {
    private static final ScopedValue<EmulatedDevice> DEVICE = ScopedValue.newInstance();

    private Emulator() {}

    /** Runs {@code action} with {@code device} as the only device. */
    public static void run(EmulatedDevice device, Runnable action) {
        ScopedValue.where(DEVICE, device).run(action);
    }

    /** Like {@link #run}, for an action that returns or throws. */
    public static <R, X extends Throwable> R call(EmulatedDevice device, ScopedValue.CallableOp<R, X> action) throws X {
        return ScopedValue.where(DEVICE, device).call(action);
    }

    /** Whether the API on this class path is the stand-in, and not the real one. */
    public static boolean isAvailable() {
        return Objects.equals(source(TaskGraph.class), source(Emulator.class));
    }

    private static CodeSource source(Class<?> type) {
        return type.getProtectionDomain().getCodeSource();
    }

    static Optional<EmulatedDevice> device() {
        return DEVICE.isBound() ? Optional.of(DEVICE.get()) : Optional.empty();
    }
}
