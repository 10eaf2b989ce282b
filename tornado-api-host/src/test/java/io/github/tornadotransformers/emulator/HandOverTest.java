package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.FIRST_EXECUTION;

import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Several graphs in a plan: who sees whose memory. */
@OnEmulator
class HandOverTest {
    private static final String CONSUMED =
            "graph consumer: argument 1 of task copy (FloatArray of 2 elements) is consumed from graph producer, ";

    private final FloatArray x = FloatArray.fromElements(1f, 2f);
    private final FloatArray out = FloatArray.fromElements(-1f, -1f);
    private final FloatArray unrelated = FloatArray.fromElements(0f);

    private TaskGraph producer() {
        return new TaskGraph("producer")
                .transferToDevice(EVERY_EXECUTION, x)
                .task("add", Kernels::add, x, 10f)
                .persistOnDevice(x);
    }

    private TaskGraph other() {
        return new TaskGraph("other")
                .transferToDevice(EVERY_EXECUTION, unrelated)
                .task("add", Kernels::add, unrelated, 1f)
                .transferToHost(EVERY_EXECUTION, unrelated);
    }

    private TaskGraph consumer() {
        return new TaskGraph("consumer")
                .consumeFromDevice("producer", x)
                .task("copy", Kernels::copy, x, out, 2)
                .task("add", Kernels::add, x, 100f)
                .transferToHost(EVERY_EXECUTION, out);
    }

    private TaskGraph consumerOfAny() {
        return new TaskGraph("consumer")
                .consumeFromDevice(x)
                .task("copy", Kernels::copy, x, out, 2)
                .transferToHost(EVERY_EXECUTION, out);
    }

    private static void execute(TornadoExecutionPlan plan, int... graphs) {
        for (int graph : graphs) {
            plan.withGraph(graph).execute();
        }
    }

    @Test
    void aConsumerSeesWhatTheGraphBeforePersisted() {
        execute(Plans.of(producer(), consumer()), 0, 1);
        assertThat(out.toHeapArray()).containsExactly(11f, 12f);
    }

    @Test
    void aConsumerThatNamesNoGraphTakesFromTheOneBefore() {
        execute(Plans.of(producer(), consumerOfAny()), 0, 1);
        assertThat(out.toHeapArray()).containsExactly(11f, 12f);
    }

    @Test
    void aConsumerExecutedAgainKeepsWhatItConsumedAndChanged() {
        execute(Plans.of(producer(), consumer()), 0, 1, 1);
        assertThat(out.toHeapArray()).containsExactly(111f, 112f);
    }

    @Test
    void theProducerSeesWhatTheConsumerDidToTheSharedMemory() {
        TaskGraph once = new TaskGraph("producer")
                .transferToDevice(FIRST_EXECUTION, x)
                .task("add", Kernels::add, x, 10f)
                .persistOnDevice(x);
        execute(Plans.of(once, consumer()), 0, 1, 0, 1);
        assertThat(out.toHeapArray()).containsExactly(121f, 122f);
    }

    @Test
    void withoutAHandOverEachGraphHasItsOwnMemory() {
        TaskGraph deaf = new TaskGraph("deaf")
                .transferToDevice(FIRST_EXECUTION, x)
                .task("copy", Kernels::copy, x, out, 2)
                .transferToHost(EVERY_EXECUTION, out);
        execute(Plans.of(producer(), deaf), 0, 1);
        assertThat(out.toHeapArray()).containsExactly(1f, 2f);
    }

    @Test
    void aGraphPassesOnWhatNoneOfItsTasksUses() {
        TaskGraph between = other().consumeFromDevice("producer", x).persistOnDevice(x);
        TaskGraph last = new TaskGraph("last")
                .consumeFromDevice("other", x)
                .task("copy", Kernels::copy, x, out, 2)
                .transferToHost(EVERY_EXECUTION, out);
        execute(Plans.of(producer(), between, last), 0, 1, 2);
        assertThat(out.toHeapArray()).containsExactly(11f, 12f);
    }

    @Test
    void aConsumerThatIsExecutedFirstIsNamed() {
        TornadoExecutionPlan plan = Plans.of(producer(), consumer());
        assertThatThrownBy(() -> execute(plan, 1))
                .hasMessage(CONSUMED + "but none was executed before in its own execute()");
    }

    @Test
    void graphsOfOneExecuteHandNothingOn() {
        TornadoExecutionPlan plan = Plans.of(producer(), consumer());
        assertThatThrownBy(plan::execute).hasMessage(CONSUMED + "but none was executed before in its own execute()");
    }

    @Test
    void aConsumerAfterAnotherGraphIsNamed() {
        TornadoExecutionPlan plan = Plans.of(producer(), consumer(), other());
        assertThatThrownBy(() -> execute(plan, 0, 2, 1))
                .hasMessage(CONSUMED + "but graph other was executed just before");
    }

    @Test
    void whatWasNotPersistedCannotBeConsumed() {
        TaskGraph forgetful = new TaskGraph("producer")
                .transferToDevice(EVERY_EXECUTION, x)
                .task("add", Kernels::add, x, 10f)
                .transferToHost(EVERY_EXECUTION, x);
        TornadoExecutionPlan plan = Plans.of(forgetful, consumer());
        assertThatThrownBy(() -> execute(plan, 0, 1)).hasMessage(CONSUMED + "which does not persist it");
    }

    @Test
    void whatWasFreedCannotBeConsumed() {
        TornadoExecutionPlan plan = Plans.of(producer(), consumer());
        execute(plan, 0);
        plan.freeDeviceMemory();
        assertThatThrownBy(() -> execute(plan, 1)).hasMessage(CONSUMED + "which freed its memory");
    }

    @Test
    void aConsumerThatFreesTheSharedMemoryIsNoticedByTheProducer() {
        TornadoExecutionPlan plan = Plans.of(producer(), consumer());
        execute(plan, 0, 1);
        plan.freeDeviceMemory();
        assertThatThrownBy(() -> execute(plan, 0))
                .hasMessage(
                        "graph producer: a graph that shares the memory of argument 1 of task add (FloatArray of 2 elements)"
                                + " freed it");
    }

    /** A driver that replays the consumer would have it read what the first producer left. */
    @Test
    void whatIsConsumedMayNotBeElsewhereThanBefore() {
        TaskGraph second = new TaskGraph("second")
                .transferToDevice(EVERY_EXECUTION, x)
                .task("add", Kernels::add, x, 20f)
                .persistOnDevice(x);
        TornadoExecutionPlan plan = Plans.of(producer(), second, consumerOfAny());
        execute(plan, 0, 2, 0, 2);
        assertThatThrownBy(() -> execute(plan, 1, 2))
                .hasMessage(
                        "graph consumer: argument 1 of task copy (FloatArray of 2 elements) is elsewhere on the device"
                                + " than at the graph's first execution; a replay would not look for it there");
    }

    @Test
    void whatIsConsumedCannotBeTransferredToo() {
        TaskGraph both = consumer().transferToDevice(EVERY_EXECUTION, x);
        assertThatThrownBy(both::snapshot)
                .hasMessage(
                        "graph consumer: argument 1 of task copy (FloatArray of 2 elements) is both transferred and consumed;"
                                + " TornadoVM ignores the transfer");
    }

    @Test
    void whatIsNeverOnTheDeviceCannotBePersisted() {
        TaskGraph graph = other().persistOnDevice(x);
        assertThatThrownBy(graph::snapshot)
                .hasMessage(
                        "graph other: an array that no task uses (FloatArray of 2 elements) is to stay on the device; it is"
                                + " never there");
    }

    @Test
    void twoGraphsOfOneNameAreRefused() {
        assertThatThrownBy(() -> Plans.of(other(), other())).hasMessage("the plan has two graphs named other");
    }

    @Test
    void aGraphThatIsNotThereCannotBeSelected() {
        TornadoExecutionPlan plan = Plans.of(other());
        assertThatThrownBy(() -> plan.withGraph(1)).hasMessage("the plan has 1 graphs, but none of index 1");
    }

    /** embed, then the same block three times with the layer's number on the device, then head; for three tokens. */
    @Test
    void aBlockReplaysItsLayersOnTheDevice() {
        FloatArray weights = FloatArray.fromElements(2f, 3f, 5f);
        IntArray layer = IntArray.fromElements(0);
        TaskGraph embed = new TaskGraph("embed")
                .transferToDevice(EVERY_EXECUTION, x, layer)
                .task("embed", Kernels::addFirst, x, layer)
                .persistOnDevice(x, layer);
        TaskGraph block = new TaskGraph("block")
                .consumeFromDevice("embed", x, layer)
                .transferToDevice(FIRST_EXECUTION, weights)
                .task("scale", Kernels::scaleByLayer, x, weights, layer)
                .task("next", Kernels::increment, layer)
                .persistOnDevice(x);
        TaskGraph head = new TaskGraph("head")
                .consumeFromDevice("block", x)
                .task("copy", Kernels::copy, x, out, 2)
                .transferToHost(EVERY_EXECUTION, out);
        TornadoExecutionPlan plan = Plans.of(embed, block, head);
        for (int token = 1; token <= 3; token++) {
            x.init(token);
            execute(plan, 0, 1, 1, 1, 2);
            assertThat(out.toHeapArray()).containsOnly(token * 30f);
        }
        assertThat(layer.get(0)).isZero();
    }
}
