package io.github.tornadotransformers.emulator;

import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.FIRST_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.UNDER_DEMAND;

import java.io.PrintStream;
import java.util.Arrays;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.TornadoExecutionResult;
import uk.ac.manchester.tornado.api.WorkerGrid;
import uk.ac.manchester.tornado.api.WorkerGrid1D;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Programs that TornadoVM and the emulator must run alike; each prints what its host arrays hold. */
final class LegalPrograms {
    /** Begins each line of a result; what a launcher adds to the output does not. */
    static final String MARK = "result ";

    private final PrintStream out;

    private LegalPrograms(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) {
        runAll(System.out);
    }

    static void runAll(PrintStream out) {
        LegalPrograms programs = new LegalPrograms(out);
        programs.transfers("first", FIRST_EXECUTION);
        programs.transfers("every", EVERY_EXECUTION);
        programs.underDemand();
        programs.passOn();
        programs.producerAfterConsumer();
        programs.layers();
        programs.grid();
        programs.twoPlansOfOneSnapshot();
    }

    private void print(String program, FloatArray array) {
        out.println(MARK + program + " " + Arrays.toString(array.toHeapArray()));
    }

    private static void execute(TornadoExecutionPlan plan, int... graphs) {
        for (int graph : graphs) {
            plan.withGraph(graph).execute();
        }
    }

    private void transfers(String name, int mode) {
        FloatArray from = FloatArray.fromElements(1f, 2f);
        FloatArray to = FloatArray.fromElements(-1f, -1f);
        TornadoExecutionPlan plan = Plans.of(new TaskGraph(name)
                .transferToDevice(mode, from)
                .task("copy", Kernels::copy, from, to, 2)
                .task("add", Kernels::add, to, 0.5f)
                .transferToHost(EVERY_EXECUTION, to));
        for (int i = 0; i < 3; i++) {
            plan.execute();
            print(name, to);
            from.init(i);
        }
        plan.freeDeviceMemory();
        plan.execute();
        print(name, to);
    }

    private void underDemand() {
        FloatArray x = FloatArray.fromElements(1f, 2f);
        TornadoExecutionResult result = Plans.of(new TaskGraph("demand")
                        .transferToDevice(FIRST_EXECUTION, x)
                        .task("add", Kernels::add, x, 1f)
                        .transferToHost(UNDER_DEMAND, x))
                .execute();
        print("before demand", x);
        result.transferToHost(x);
        print("after demand", x);
    }

    private void passOn() {
        FloatArray x = FloatArray.fromElements(1f, 2f);
        FloatArray y = FloatArray.fromElements(0f, 0f);
        FloatArray to = FloatArray.fromElements(-1f, -1f);
        TornadoExecutionPlan plan = Plans.of(
                new TaskGraph("a")
                        .transferToDevice(EVERY_EXECUTION, x)
                        .task("add", Kernels::add, x, 10f)
                        .persistOnDevice(x),
                new TaskGraph("b")
                        .consumeFromDevice("a", x)
                        .transferToDevice(EVERY_EXECUTION, y)
                        .task("add", Kernels::add, y, 1f)
                        .persistOnDevice(x, y),
                new TaskGraph("c")
                        .consumeFromDevice(x)
                        .task("copy", Kernels::copy, x, to, 2)
                        .transferToHost(EVERY_EXECUTION, to));
        for (int i = 0; i < 2; i++) {
            execute(plan, 0, 1, 2);
            print("pass on", to);
            x.init(i);
        }
    }

    private void producerAfterConsumer() {
        FloatArray x = FloatArray.fromElements(1f, 2f);
        TornadoExecutionPlan plan = Plans.of(
                new TaskGraph("a")
                        .transferToDevice(FIRST_EXECUTION, x)
                        .task("add", Kernels::add, x, 10f)
                        .persistOnDevice(x),
                new TaskGraph("b")
                        .consumeFromDevice("a", x)
                        .task("add", Kernels::add, x, 100f)
                        .transferToHost(EVERY_EXECUTION, x));
        execute(plan, 0, 1, 1, 0, 1);
        print("producer after consumer", x);
    }

    private void layers() {
        FloatArray x = FloatArray.fromElements(1f, 2f);
        FloatArray to = FloatArray.fromElements(-1f, -1f);
        FloatArray weights = FloatArray.fromElements(2f, 3f, 5f);
        IntArray layer = IntArray.fromElements(0);
        TornadoExecutionPlan plan = Plans.of(
                new TaskGraph("embed")
                        .transferToDevice(EVERY_EXECUTION, x, layer)
                        .task("embed", Kernels::addFirst, x, layer)
                        .persistOnDevice(x, layer),
                new TaskGraph("block")
                        .consumeFromDevice("embed", x, layer)
                        .transferToDevice(FIRST_EXECUTION, weights)
                        .task("scale", Kernels::scaleByLayer, x, weights, layer)
                        .task("next", Kernels::increment, layer)
                        .persistOnDevice(x),
                new TaskGraph("head")
                        .consumeFromDevice("block", x)
                        .task("copy", Kernels::copy, x, to, 2)
                        .transferToHost(EVERY_EXECUTION, to));
        for (int token = 1; token <= 3; token++) {
            x.init(token);
            execute(plan, 0, 1, 1, 1, 2);
            print("layers", to);
        }
    }

    private void grid() {
        FloatArray x = new FloatArray(64);
        x.init(1f);
        WorkerGrid grid = new WorkerGrid1D(64);
        grid.setLocalWork(16, 1, 1);
        Plans.of(new TaskGraph("grid")
                        .transferToDevice(EVERY_EXECUTION, x)
                        .task("add", Kernels::add, x, 1f)
                        .transferToHost(EVERY_EXECUTION, x))
                .withGridScheduler(new GridScheduler("grid.add", grid))
                .execute();
        print("grid", x);
    }

    private void twoPlansOfOneSnapshot() {
        FloatArray x = FloatArray.fromElements(1f, 2f);
        var snapshot = new TaskGraph("shared")
                .transferToDevice(FIRST_EXECUTION, x)
                .task("add", Kernels::add, x, 10f)
                .transferToHost(EVERY_EXECUTION, x)
                .snapshot();
        TornadoExecutionPlan first = new TornadoExecutionPlan(snapshot);
        first.execute();
        first.freeDeviceMemory();
        new TornadoExecutionPlan(snapshot).execute();
        print("two plans", x);
    }
}
