package io.github.tornadotransformers.taskgraphs.training;

import static io.github.tornadotransformers.taskgraphs.memory.GroupContext.CONTEXT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.graphs.DevicePlan;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTask;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.graphs.TaskCall;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoForwardPass;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import io.github.tornadotransformers.testsupport.RankedTokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * What {@link OclgrindTest} runs in a JVM that TornadoVM's launcher has started. Writes the device's kind to the file that is its first argument
 * once all went well; the second says what runs.
 */
public final class OclgrindChecks {
    /** Two tokens of small models in each type, candidates of a third, and the gradients of a smaller one, on the device and the host. */
    static final String TOKENS = "tokens";

    /** A kernel whose items read what others write, with no barrier in between. */
    static final String RACE = "race";

    private static final int GROUP = 128;
    private static final int CANDIDATES = 7;

    /** A second slice of hidden, and one of a few elements; even, so that rows are whole words of two. */
    private static final ModelConfig GPT2 = new Gpt2Config(new Sizes(20, 16, 132, 12, 1), 2, 1e-5f, true, true);

    private static final ModelConfig LLAMA = new LlamaConfig(
            new Sizes(20, 16, 132, 12, 1),
            new Heads(2, 1, 6),
            new Rope(10000, 6, new RopeScaling.None()),
            1e-6f,
            true,
            false,
            false);

    private static final ModelConfig TRAINED = new Gpt2Config(new Sizes(20, 3, 12, 20, 1), 2, 1e-5f, true, true);

    private OclgrindChecks() {}

    public static void main(String[] arguments) throws IOException {
        DeviceInfo device = TornadoDevices.choose(Optional.of(Backend.OPENCL), Optional.empty(), MathMode.STRICT);
        switch (arguments[1]) {
            case TOKENS -> {
                requireTheHostsBits(device, GPT2, DType.F32);
                requireTheHostsBits(device, LLAMA, DType.BF16);
                requireTheHostsBits(device, LLAMA, DType.INT8);
                requireTheHostsGradients(device);
            }
            case RACE -> race(device);
            default -> throw new IllegalArgumentException(arguments[1]);
        }
        Files.writeString(Path.of(arguments[0]), device.kind().name());
    }

    private static void requireTheHostsBits(DeviceInfo device, ModelConfig config, DType dtype) {
        Program program = config.program(config.contextLength());
        Weights weights = RandomModels.weights(program, dtype, new RandomData(1));
        DeviceOptions options = DeviceOptions.of(device).withPrefillRows(1);
        try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                TornadoForwardPass engine = TornadoForwardPass.open(program, dtype, _ -> weights, options)) {
            for (int position = 0; position < 2; position++) {
                int[] token = {7 + position};
                Bits.assertSame(
                        program.family() + " " + dtype + " at " + position,
                        engine.forward(token, position),
                        host.forward(token, position));
            }
            requireTheHostsCandidates(engine, host);
        }
    }

    /** Of the third token. */
    private static void requireTheHostsCandidates(ForwardPass engine, ForwardPass host) {
        int[] token = {9};
        Candidates expected =
                RankedTokens.of(host.forward(token, 2), 0, host.program().vocabSize(), CANDIDATES);
        engine.forward(token, 2, CANDIDATES, new ForwardPass.LogitsSink() {
            @Override
            public void accept(int position, float[] logits, int offset) {
                throw new AssertionError("logits at " + position);
            }

            @Override
            public void acceptCandidates(int position, Candidates found) {
                assertThat(found.ids()).containsExactly(expected.ids());
                Bits.assertSame("candidates", found.logits(), expected.logits());
            }
        });
    }

    private static void requireTheHostsGradients(DeviceInfo device) {
        try (TrainingPair pair = TrainingPair.of(TRAINED, new RandomData(1), device)) {
            pair.begin();
            pair.requireSameLossWithGradients(new int[] {7, 3, 11}, new int[] {3, 11, 2}, 0.1f);
            pair.requireSameGradients();
        }
    }

    /** Each item passes on what a neighbour has put into local memory, or has not yet. */
    public static void neighbours(KernelContext context, FloatArray out, int distance) {
        float[] shared = context.allocateFloatLocalArray(GROUP);
        shared[context.localIdx] = context.localIdx;
        out.set(context.globalIdx, shared[(context.localIdx + distance) % GROUP]);
    }

    private static void race(DeviceInfo device) {
        RuntimeSettings.install(MathMode.STRICT);
        NamedKey<FloatArray> out = NamedKey.floats("out");
        List<DeviceTask> tasks = new ArrayList<>();
        new TaskCall("race", GROUP, tasks::add)
                .calls(OclgrindChecks::neighbours, CONTEXT, new PlannedArray<>(out, GROUP), Scalar.value(1));
        DeviceGraph graph = DeviceGraph.of("race", tasks, Set.of(out));
        graph.move(Movement.DOWNLOAD, out, true);
        try (DeviceArrays arrays = new DeviceArrays(new MemoryPlan(device, graph.arrays()));
                DevicePlan plan = new DevicePlan(List.of(graph), arrays, device, (_, _) -> true)) {
            plan.execute(graph);
        }
    }
}
