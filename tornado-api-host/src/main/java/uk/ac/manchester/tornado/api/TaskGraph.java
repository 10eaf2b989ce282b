package uk.ac.manchester.tornado.api;

import io.github.tornadotransformers.emulator.GraphRecorder;
import io.github.tornadotransformers.emulator.TaskBody;
import java.util.Arrays;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task1;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task10;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task11;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task12;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task13;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task14;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task15;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task16;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task17;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task18;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task19;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task2;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task20;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task3;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task4;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task5;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task6;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task7;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task8;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task9;
import uk.ac.manchester.tornado.api.enums.DataTransferMode;

/**
 * Tasks in the order they run, and what moves between host and device around them.
 *
 * <p>Each array of a graph has its own copy on the device. Scalars are frozen when the task is added. Execution is emulated, see
 * {@link io.github.tornadotransformers.emulator.Emulator} for the rules; misuse that TornadoVM would pass over in silence is an
 * {@link io.github.tornadotransformers.emulator.EmulatorException} that names the graph, the task and the array.
 */
public class TaskGraph {
    private final GraphRecorder recorder;

    /** An empty graph; {@code name} is the first half of its tasks' keys, {@code graph.task}. */
    public TaskGraph(String name) {
        this.recorder = new GraphRecorder(name);
    }

    public String getTaskGraphName() {
        return recorder.name();
    }

    /**
     * Copies arrays to the device before the tasks run.
     *
     * @param mode one of {@link DataTransferMode}
     */
    public TaskGraph transferToDevice(int mode, Object... objects) {
        recorder.transferToDevice(mode, objects);
        return this;
    }

    /**
     * Copies arrays that a task of this graph writes to the host after the tasks ran.
     *
     * @param mode one of {@link DataTransferMode}; with {@link DataTransferMode#UNDER_DEMAND} the copy waits for
     *     {@link TornadoExecutionResult#transferToHost}
     */
    public TaskGraph transferToHost(int mode, Object... objects) {
        recorder.transferToHost(mode, objects);
        return this;
    }

    /** Keeps the device's copies of {@code objects} for the graph that is executed next. */
    public TaskGraph persistOnDevice(Object... objects) {
        return transferToHost(DataTransferMode.UNDER_DEMAND, objects);
    }

    /** Uses the device's copies that the graph executed just before this one persisted. */
    public TaskGraph consumeFromDevice(Object... objects) {
        recorder.consumeFromDevice(objects);
        return this;
    }

    /** Like {@link #consumeFromDevice(Object...)}, where the graph executed just before must be {@code sourceGraph}. */
    public TaskGraph consumeFromDevice(String sourceGraph, Object... objects) {
        recorder.consumeFromDevice(sourceGraph, objects);
        return this;
    }

    /** The graph as it is now, for an execution plan. */
    public ImmutableTaskGraph snapshot() {
        return new ImmutableTaskGraph(recorder.freeze());
    }

    private TaskGraph add(String id, Object code, TaskBody body, Object... arguments) {
        recorder.task(id, code, body, Arrays.asList(arguments));
        return this;
    }

    /** Adds a task, named {@code id}, that calls {@code code} with the arguments that follow. */
    public TaskGraph task(String id, Task code) {
        return add(id, code, on -> code.apply());
    }

    public <T1> TaskGraph task(String id, Task1<T1> code, T1 arg1) {
        return add(id, code, on -> code.apply(on.copy(arg1)), arg1);
    }

    public <T1, T2> TaskGraph task(String id, Task2<T1, T2> code, T1 arg1, T2 arg2) {
        return add(id, code, on -> code.apply(on.copy(arg1), on.copy(arg2)), arg1, arg2);
    }

    public <T1, T2, T3> TaskGraph task(String id, Task3<T1, T2, T3> code, T1 arg1, T2 arg2, T3 arg3) {
        return add(id, code, on -> code.apply(on.copy(arg1), on.copy(arg2), on.copy(arg3)), arg1, arg2, arg3);
    }

    public <T1, T2, T3, T4> TaskGraph task(String id, Task4<T1, T2, T3, T4> code, T1 arg1, T2 arg2, T3 arg3, T4 arg4) {
        return add(
                id,
                code,
                on -> code.apply(on.copy(arg1), on.copy(arg2), on.copy(arg3), on.copy(arg4)),
                arg1,
                arg2,
                arg3,
                arg4);
    }

    public <T1, T2, T3, T4, T5> TaskGraph task(
            String id, Task5<T1, T2, T3, T4, T5> code, T1 arg1, T2 arg2, T3 arg3, T4 arg4, T5 arg5) {
        return add(
                id,
                code,
                on -> code.apply(on.copy(arg1), on.copy(arg2), on.copy(arg3), on.copy(arg4), on.copy(arg5)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5);
    }

    public <T1, T2, T3, T4, T5, T6> TaskGraph task(
            String id, Task6<T1, T2, T3, T4, T5, T6> code, T1 arg1, T2 arg2, T3 arg3, T4 arg4, T5 arg5, T6 arg6) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1), on.copy(arg2), on.copy(arg3), on.copy(arg4), on.copy(arg5), on.copy(arg6)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6);
    }

    public <T1, T2, T3, T4, T5, T6, T7> TaskGraph task(
            String id,
            Task7<T1, T2, T3, T4, T5, T6, T7> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8> TaskGraph task(
            String id,
            Task8<T1, T2, T3, T4, T5, T6, T7, T8> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9> TaskGraph task(
            String id,
            Task9<T1, T2, T3, T4, T5, T6, T7, T8, T9> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10> TaskGraph task(
            String id,
            Task10<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11> TaskGraph task(
            String id,
            Task11<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12> TaskGraph task(
            String id,
            Task12<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13> TaskGraph task(
            String id,
            Task13<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14> TaskGraph task(
            String id,
            Task14<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15> TaskGraph task(
            String id,
            Task15<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14,
            T15 arg15) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14),
                        on.copy(arg15)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14,
                arg15);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16> TaskGraph task(
            String id,
            Task16<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14,
            T15 arg15,
            T16 arg16) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14),
                        on.copy(arg15),
                        on.copy(arg16)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14,
                arg15,
                arg16);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17> TaskGraph task(
            String id,
            Task17<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14,
            T15 arg15,
            T16 arg16,
            T17 arg17) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14),
                        on.copy(arg15),
                        on.copy(arg16),
                        on.copy(arg17)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14,
                arg15,
                arg16,
                arg17);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18> TaskGraph task(
            String id,
            Task18<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14,
            T15 arg15,
            T16 arg16,
            T17 arg17,
            T18 arg18) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14),
                        on.copy(arg15),
                        on.copy(arg16),
                        on.copy(arg17),
                        on.copy(arg18)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14,
                arg15,
                arg16,
                arg17,
                arg18);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18, T19> TaskGraph task(
            String id,
            Task19<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18, T19> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14,
            T15 arg15,
            T16 arg16,
            T17 arg17,
            T18 arg18,
            T19 arg19) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14),
                        on.copy(arg15),
                        on.copy(arg16),
                        on.copy(arg17),
                        on.copy(arg18),
                        on.copy(arg19)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14,
                arg15,
                arg16,
                arg17,
                arg18,
                arg19);
    }

    public <T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18, T19, T20> TaskGraph task(
            String id,
            Task20<T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18, T19, T20> code,
            T1 arg1,
            T2 arg2,
            T3 arg3,
            T4 arg4,
            T5 arg5,
            T6 arg6,
            T7 arg7,
            T8 arg8,
            T9 arg9,
            T10 arg10,
            T11 arg11,
            T12 arg12,
            T13 arg13,
            T14 arg14,
            T15 arg15,
            T16 arg16,
            T17 arg17,
            T18 arg18,
            T19 arg19,
            T20 arg20) {
        return add(
                id,
                code,
                on -> code.apply(
                        on.copy(arg1),
                        on.copy(arg2),
                        on.copy(arg3),
                        on.copy(arg4),
                        on.copy(arg5),
                        on.copy(arg6),
                        on.copy(arg7),
                        on.copy(arg8),
                        on.copy(arg9),
                        on.copy(arg10),
                        on.copy(arg11),
                        on.copy(arg12),
                        on.copy(arg13),
                        on.copy(arg14),
                        on.copy(arg15),
                        on.copy(arg16),
                        on.copy(arg17),
                        on.copy(arg18),
                        on.copy(arg19),
                        on.copy(arg20)),
                arg1,
                arg2,
                arg3,
                arg4,
                arg5,
                arg6,
                arg7,
                arg8,
                arg9,
                arg10,
                arg11,
                arg12,
                arg13,
                arg14,
                arg15,
                arg16,
                arg17,
                arg18,
                arg19,
                arg20);
    }
}
