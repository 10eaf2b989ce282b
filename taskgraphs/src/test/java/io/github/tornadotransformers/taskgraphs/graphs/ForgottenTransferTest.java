package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostInterpreter;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;

/** Without any one of its transfers the engine fails, or gives other logits: none is there for nothing. */
@OnEmulator
class ForgottenTransferTest {
    private static final int ROWS = 16;

    /** There are chains for one token, for eight, and for these. */
    private static final int BATCH_ROWS = 64;

    private static final ModelConfig GPT2 = new Gpt2Config(new Sizes(19, 80, 12, 20, 2), 2, 1e-5f, true, true);
    private static final ModelConfig GPT2_OF_THREE = new Gpt2Config(new Sizes(19, 80, 12, 20, 3), 2, 1e-5f, true, true);

    /** Devices whose buffers hold two layers of the cache, a page of each, but not three. */
    private static final DeviceLimits SMALL_FOR_GPT2 = smallBuffers(15_000);

    private static final DeviceLimits SMALL_FOR_LLAMA = smallBuffers(8000);

    /** Its uploads are checked. Loops run on it, which are emulated faster than groups. */
    private static final DeviceLimits GPU = new DeviceLimits(TornadoDeviceType.GPU, 4L << 30, 1L << 30, 64, true);

    private static final ModelConfig LLAMA = new LlamaConfig(
            new Sizes(19, 80, 12, 20, 2),
            new Heads(2, 1, 6),
            new Rope(10000, 6, new RopeScaling.None()),
            1e-6f,
            false,
            false,
            false);

    private static final Program TWO_KINDS = LayerKinds.mixed(new LlamaConfig(
                    new Sizes(19, 80, 12, 20, 3),
                    new Heads(2, 1, 6),
                    new Rope(10000, 6, new RopeScaling.None()),
                    1e-6f,
                    false,
                    false,
                    false)
            .program(80));

    private static DeviceLimits smallBuffers(long bytes) {
        return new DeviceLimits(TornadoDeviceType.GPU, 1L << 20, bytes, 64, true);
    }

    /** How tokens come. */
    enum Use {
        ONE_SEQUENCE,
        TRACED,
        BATCHES
    }

    /** A way of running a model. */
    record Setup(
            String name, Program program, Weights weights, GraphMode graph, int rows, Use use, DeviceLimits limits) {
        static Setup of(String name, ModelConfig config, GraphMode graph, int rows, Use use) {
            return of(name, config, graph, rows, use, DeviceLimits.DEFAULT);
        }

        static Setup of(String name, ModelConfig config, GraphMode graph, int rows, Use use, DeviceLimits limits) {
            return of(name, config.program(config.contextLength()), graph, rows, use, limits);
        }

        static Setup of(String name, Program program, GraphMode graph, int rows, Use use, DeviceLimits limits) {
            Weights weights = RandomModels.weights(program, DType.F32, new RandomData(7));
            return new Setup(name, program, weights, graph, rows, use, limits);
        }

        static Stream<Setup> all() {
            return Stream.of(
                    of("gpt2 layered", GPT2, GraphMode.LAYERED, ROWS, Use.ONE_SEQUENCE),
                    of("gpt2 fused", GPT2, GraphMode.FUSED, 1, Use.ONE_SEQUENCE),
                    of("gpt2 traced", GPT2, GraphMode.LAYERED, 1, Use.TRACED),
                    of(
                            "gpt2 layered, two groups",
                            GPT2_OF_THREE,
                            GraphMode.LAYERED,
                            1,
                            Use.ONE_SEQUENCE,
                            SMALL_FOR_GPT2),
                    of("gpt2 fused, two groups", GPT2_OF_THREE, GraphMode.FUSED, 1, Use.ONE_SEQUENCE, SMALL_FOR_GPT2),
                    of("llama layered", LLAMA, GraphMode.LAYERED, ROWS, Use.ONE_SEQUENCE),
                    of("llama layered, single rows", LLAMA, GraphMode.LAYERED, 1, Use.ONE_SEQUENCE),
                    of("llama fused, prefill", LLAMA, GraphMode.FUSED, ROWS, Use.ONE_SEQUENCE),
                    of("two kinds", TWO_KINDS, GraphMode.LAYERED, ROWS, Use.ONE_SEQUENCE, DeviceLimits.DEFAULT),
                    of("two kinds, two groups", TWO_KINDS, GraphMode.LAYERED, 1, Use.ONE_SEQUENCE, SMALL_FOR_LLAMA),
                    of("gpt2 layered, batches", GPT2, GraphMode.LAYERED, BATCH_ROWS, Use.BATCHES),
                    of("llama layered, batches", LLAMA, GraphMode.LAYERED, BATCH_ROWS, Use.BATCHES),
                    of("llama fused, batches", LLAMA, GraphMode.FUSED, BATCH_ROWS, Use.BATCHES),
                    of("llama on a GPU, batches", LLAMA, GraphMode.LAYERED, BATCH_ROWS, Use.BATCHES, GPU),
                    of("two kinds on a GPU", TWO_KINDS, GraphMode.LAYERED, ROWS, Use.ONE_SEQUENCE, GPU));
        }

        ChainRows chainRows() {
            return use == Use.BATCHES ? ChainRows.ofBatches(program, rows) : ChainRows.ofOne(program, rows);
        }

        <T> T onDevice(Function<DeviceInfo, T> action) {
            return on(new EmulatedDevice(limits), action);
        }

        private static <T> T on(EmulatedDevice device, Function<DeviceInfo, T> action) {
            return Emulator.call(
                    device,
                    () -> action.apply(TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT)));
        }

        /** Whether it holds, and without having given up replays, as a plan does whose first graph cannot be replayed. */
        boolean holdsOnDevice(Predicate<DeviceInfo> action) {
            EmulatedDevice device = new EmulatedDevice(limits);
            return on(device, action::test) && device.replays();
        }

        List<DeviceGraph> graphs() {
            return onDevice(device -> {
                int pages = AttentionShape.pages(program.contextLength());
                DeviceModel model =
                        DeviceModel.of(program, MatrixTypes.of(DType.F32), KvType.F32, MathMode.STRICT, device, pages);
                return new GraphSet(model, graph, chainRows(), use == Use.TRACED).graphs();
            });
        }
    }

    /** The transfer of a graph, by its place among the graph's. */
    record Cut(
            Setup setup,
            String graph,
            int index,
            DeviceTransfer.Movement movement,
            ArrayKey<?> array,
            boolean essential) {
        boolean keeps(DeviceGraph candidate, DeviceTransfer transfer) {
            return !candidate.name().equals(graph) || candidate.transfers().indexOf(transfer) != index;
        }

        @Override
        public String toString() {
            return setup.name() + ": " + movement + " of " + array + " in " + graph;
        }
    }

    static Stream<Cut> cuts() {
        return Setup.all().flatMap(setup -> setup.graphs().stream().flatMap(graph -> cuts(setup, graph)));
    }

    private static Stream<Cut> cuts(Setup setup, DeviceGraph graph) {
        List<Cut> cuts = new ArrayList<>();
        for (DeviceTransfer transfer : graph.transfers()) {
            cuts.add(new Cut(
                    setup, graph.name(), cuts.size(), transfer.movement(), transfer.array(), transfer.essential()));
        }
        return cuts.stream();
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void isNoticed(Cut cut) {
        assertThat(givesTheHostsLogits(cut.setup(), cut::keeps))
                .as(cut.toString())
                .isEqualTo(!cut.essential());
    }

    private static boolean givesTheHostsLogits(Setup setup, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        if (setup.use() == Use.BATCHES) {
            return setup.holdsOnDevice(device -> givesTheHostsLogitsInBatches(setup, device, kept));
        }
        return setup.holdsOnDevice(device -> Stream.of(new int[] {3, 40, 5, 1, 5, 1}, new int[] {37, 1, 1})
                .allMatch(lengths -> givesTheHostsLogits(setup, device, kept, lengths)));
    }

    /** What of which sequence runs together: as many tokens, and which logits are wanted. */
    private record Part(int sequence, int tokens, Wanted wanted) {}

    private static List<Part> singles(Wanted wanted, int... sequences) {
        return Arrays.stream(sequences)
                .mapToObj(sequence -> new Part(sequence, 1, wanted))
                .toList();
    }

    /** Each chain after each other, with and without the head, and with the head for one row and for several. */
    private static final List<List<Part>> BATCHES = List.of(
            singles(Wanted.LAST, 0),
            List.of(new Part(0, 20, Wanted.LAST), new Part(1, 20, Wanted.LAST)),
            singles(Wanted.LAST, 0, 1, 2, 3),
            singles(Wanted.LAST, 0),
            singles(Wanted.LAST, 0, 1, 2, 3),
            List.of(new Part(4, 30, Wanted.NONE)),
            singles(Wanted.LAST, 0, 1, 2, 3),
            List.of(new Part(1, 20, Wanted.ALL)),
            singles(Wanted.NONE, 0),
            List.of(new Part(4, 20, Wanted.NONE)),
            singles(Wanted.LAST, 2),
            singles(Wanted.NONE, 0, 1),
            singles(Wanted.LAST, 3),
            singles(Wanted.NONE, 0, 1),
            List.of(new Part(0, 10, Wanted.LAST), new Part(3, 10, Wanted.NONE)),
            List.of(new Part(2, 10, Wanted.LAST), new Part(3, 10, Wanted.LAST)),
            singles(Wanted.LAST, 0, 1));

    private static boolean givesTheHostsLogitsInBatches(
            Setup setup, DeviceInfo device, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        DeviceOptions options =
                DeviceOptions.of(device).withGraph(setup.graph()).withPrefillRows(setup.rows());
        TornadoEngine.Hooks hooks = new TornadoEngine.Hooks(kept, FreedPages.NONE);
        try (Engine host = new HostInterpreter(
                        setup.program(), setup.weights(), new ScalarOps(), KvType.F32, cacheBytes(setup));
                Engine engine = TornadoEngine.open(
                        setup.program(), DType.F32, _ -> setup.weights(), options, cacheBytes(setup), hooks)) {
            return runBatches(engine).equals(runBatches(host));
        } catch (RuntimeException _) {
            return false;
        }
    }

    private static long cacheBytes(Setup setup) {
        return 8
                * TornadoEngine.cacheBytes(
                        setup.program(), KvType.F32, setup.program().contextLength());
    }

    /** The bits of all logits. */
    private static List<Integer> runBatches(Engine engine) {
        RandomData data = new RandomData(5);
        int vocabSize = engine.program().vocabSize();
        List<KvCache> caches = Stream.generate(() -> engine.open(80)).limit(5).toList();
        List<Integer> bits = new ArrayList<>();
        List<Integer> firstText = new ArrayList<>();
        for (List<Part> parts : BATCHES) {
            List<Span> spans = parts.stream()
                    .map(part -> new Span(
                            caches.get(part.sequence()),
                            caches.get(part.sequence()).length(),
                            data.ints(part.tokens(), vocabSize),
                            part.wanted()))
                    .toList();
            LogitsSink sink = (_, _, logits, offset) -> {
                for (int i = 0; i < vocabSize; i++) {
                    bits.add(Float.floatToRawIntBits(logits[offset + i]));
                }
            };
            engine.run(new Batch(spans), sink);
            if (parts.getFirst().sequence() == 0) {
                Arrays.stream(spans.getFirst().tokens()).forEach(firstText::add);
            }
            int[] text = firstText.stream().mapToInt(id -> id).toArray();
            caches.getFirst().share(text);
            runCopied(engine, text, sink);
        }
        return bits;
    }

    /** Another sequence that begins in the same way, in a page that is copied. */
    private static void runCopied(Engine engine, int[] text, LogitsSink sink) {
        try (KvCache copied = engine.open(80)) {
            int known = copied.reuse(text);
            assertThat(known).isEqualTo(text.length - 1);
            if (text.length % 2 == 0) {
                int[] last = {text[known]};
                engine.run(Batch.of(new Span(copied, known, last, Wanted.LAST)), sink);
            }
        }
    }

    private static boolean givesTheHostsLogits(
            Setup setup, DeviceInfo device, BiPredicate<DeviceGraph, DeviceTransfer> kept, int[] lengths) {
        DeviceOptions options =
                DeviceOptions.of(device).withGraph(setup.graph()).withPrefillRows(setup.rows());
        try (TornadoForwardPass engine =
                TornadoForwardPass.open(setup.program(), DType.F32, _ -> setup.weights(), options, kept)) {
            if (setup.use() == Use.TRACED) {
                engine.trace((_, _, _, _, _) -> {});
            }
            return Arrays.deepEquals(logits(engine, lengths), expected(setup, lengths));
        } catch (RuntimeException _) {
            return false;
        }
    }

    private static float[][] expected(Setup setup, int[] lengths) {
        try (ForwardPass host = new HostForwardPass(setup.program(), setup.weights(), new ScalarOps())) {
            return logits(host, lengths);
        }
    }

    /** The logits after each of several texts that follow one another. */
    private static float[][] logits(ForwardPass engine, int[] lengths) {
        RandomData data = new RandomData(5);
        float[][] logits = new float[lengths.length][];
        int position = 0;
        for (int i = 0; i < lengths.length; i++) {
            int[] text = data.ints(lengths[i], engine.program().vocabSize());
            logits[i] = engine.forward(text, position).clone();
            position += lengths[i];
        }
        return logits;
    }
}
