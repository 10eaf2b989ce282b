package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostInterpreter;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.kernels.EmbeddingKernels;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoEngine;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoForwardPass;
import io.github.tornadotransformers.taskgraphs.graphs.TracePoints;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import io.github.tornadotransformers.taskgraphs.probe.ProbeResult;
import io.github.tornadotransformers.testsupport.BatchSchedule;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.Generations;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.enums.DataTransferMode;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * What {@link OnDeviceTest} runs in a JVM that TornadoVM's launcher has started: models of both families on a real device, every
 * Op and its gradient against the oracle. Writes a line for each check to the file that is its first argument: before it, {@code ?}; after it,
 * {@code +} or {@code -} and the reason; {@code #} and a figure. The second argument is the mode of arithmetic.
 */
public final class DeviceChecks {
    /** Odd sizes: three heads on one, hidden over two slices, a last slice of two, context over two slices. */
    private static final ModelConfig LLAMA = new LlamaConfig(
            new Sizes(131, 140, 130, 67, 2),
            new Heads(3, 1, 10),
            new Rope(10000, 10, new RopeScaling.None()),
            1e-6f,
            true,
            false,
            false);

    private static final ModelConfig GPT2 = new Gpt2Config(new Sizes(97, 140, 132, 35, 2), 3, 1e-5f, true, true);

    /** Rows of whole blocks of every format. */
    private static final ModelConfig OF_BLOCKS = new LlamaConfig(
            new Sizes(131, 40, 256, 512, 2),
            new Heads(4, 2, 64),
            new Rope(10000, 64, new RopeScaling.None()),
            1e-6f,
            true,
            false,
            false);

    private static final int ROWS = 8;

    /** A chain for four rows, and one for these. */
    private static final int BATCH_ROWS = 32;

    private static final int BATCH_PAGES = 5;
    private static final int PROMPT = 13;
    private static final int CONTEXT = 40;

    /** What follows the name of the results' file in that of the kernels' sources. */
    static final String KERNELS = ".kernels";

    private static final int TOKENS = 10;

    private final PrintStream results;
    private final DeviceInfo device;

    private DeviceChecks(PrintStream results, MathMode math) {
        this.results = results;
        this.device = TornadoDevices.choose(Optional.empty(), Optional.empty(), math);
    }

    public static void main(String[] arguments) throws IOException {
        try (PrintStream results =
                new PrintStream(Files.newOutputStream(Path.of(arguments[0])), true, StandardCharsets.UTF_8)) {
            MathMode math = MathMode.valueOf(arguments[1]);
            RuntimeSettings.keepKernelSources(Path.of(arguments[0] + KERNELS));
            DeviceChecks checks = new DeviceChecks(results, math);
            switch (math) {
                case STRICT -> checks.run();
                case FAST -> checks.checkFastMath();
            }
        }
    }

    private void run() {
        results.println("# " + device);
        check("arithmetic", () -> {
            ProbeResult found = new DeviceProbes().of(device);
            if (!found.isExact()) {
                throw new AssertionError(found.toString());
            }
        });
        checkPatterns(DType.BF16, _ -> true);
        checkPatterns(DType.F16, _ -> true);
        checkOps("gpt2", GPT2, DType.F32);
        checkOps("llama", LLAMA, DType.F32);
        checkOps("llama", LLAMA, DType.BF16);
        checkOps("llama", LLAMA, DType.F16);
        checkOps("llama", LLAMA, DType.INT8);
        checkBlocks();
        checkText("gpt2", GPT2, DType.F32, GraphMode.LAYERED, ROWS);
        checkText("gpt2", GPT2, DType.INT8, GraphMode.FUSED, 1);
        checkText("llama", LLAMA, DType.BF16, GraphMode.LAYERED, ROWS);
        checkText("llama", LLAMA, DType.F32, GraphMode.FUSED, ROWS);
        checkFamilies();
        checkBatches("gpt2", GPT2, DType.F32, KvType.F16, GraphMode.FUSED);
        checkBatches("gpt2", GPT2, DType.F32, KvType.F32, GraphMode.LAYERED);
        checkBatches("llama", LLAMA, DType.BF16, KvType.BF16, GraphMode.LAYERED);
        checkLayersInGroups();
        checkGradients(GPT2);
        checkGradients(LLAMA);
    }

    /** The gradient of each Op by itself, over rows in two slices. */
    private void checkGradients(ModelConfig config) {
        Program program = config.program(config.contextLength());
        for (GradientOpCase op : GradientOpCase.of(program)) {
            check(
                    program.family() + " gradient of " + op.trained().op().name(),
                    () -> op.requireTheOraclesBits(device, new RandomData(3)));
        }
    }

    /** Where the device may fuse, approximate and flush what is subnormal, logits are close. */
    private void checkFastMath() {
        results.println("# " + device);
        checkPatterns(DType.BF16, DeviceChecks::isNormal);
        checkPatterns(DType.F16, DeviceChecks::isNormal);
        for (ModelConfig config : List.of(GPT2, LLAMA)) {
            Program program = config.program(config.contextLength());
            Weights weights = RandomModels.weights(program, DType.F32, new RandomData(1));
            int[] text = new RandomData(2).ints(20, program.vocabSize());
            check(program.family() + " F32 fast", () -> {
                DeviceOptions options =
                        DeviceOptions.of(device).withMath(MathMode.FAST).withPrefillRows(ROWS);
                try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                        TornadoForwardPass engine =
                                TornadoForwardPass.open(program, DType.F32, _ -> weights, options)) {
                    float[] logits = host.forward(text, 0);
                    double[] expected = new double[logits.length];
                    Arrays.setAll(expected, i -> logits[i]);
                    Bits.assertClose("logits", engine.forward(text, 0), expected, 1e-3, 1e-3);
                }
            });
        }
    }

    /** The examples that every family offers, in turns of graphs and types: a prompt in tiles of rows, then single tokens. */
    private void checkFamilies() {
        int turn = 0;
        for (ModelFamily<?> family : ModelFamilies.all()) {
            for (ModelConfig config : family.examples()) {
                GraphMode graph = GraphMode.values()[turn % 2];
                DType dtype = DType.OF_MATRICES.get(turn / 2 % DType.OF_MATRICES.size());
                checkLogits(family.modelType() + " example " + turn, config, dtype, graph);
                turn++;
            }
        }
    }

    /** Matrices in blocks: every format, with others side by side and from layer to layer. */
    private void checkBlocks() {
        for (int turn = 0; turn < BlockFormat.values().length; turn += 2) {
            List<BlockFormat> formats = new ArrayList<>(List.of(BlockFormat.values()));
            Collections.rotate(formats, -turn);
            RandomModel model = new RandomModel(OF_BLOCKS, 3, formats);
            Program program = OF_BLOCKS.program(CONTEXT);
            GraphMode graph = GraphMode.values()[turn / 2 % 2];
            int[] text = new RandomData(1).ints(PROMPT, program.vocabSize());
            check("blocks of " + formats.getFirst() + " and others " + graph, () -> {
                WeightSource source = WeightSource.of(model, program, DType.STORED);
                DeviceOptions options =
                        DeviceOptions.of(device).withGraph(graph).withPrefillRows(ROWS);
                try (Arena arena = Arena.ofShared();
                        ForwardPass host = new HostForwardPass(
                                program,
                                model.load(program, DType.STORED, new ArenaAllocator(arena, WeightLayout.PANELS)),
                                new ScalarOps());
                        ForwardPass engine = TornadoForwardPass.open(program, DType.STORED, source, options)) {
                    Bits.assertSame("prompt", engine.forward(text, 0), host.forward(text, 0));
                    int[] token = {1};
                    Bits.assertSame("token", engine.forward(token, PROMPT), host.forward(token, PROMPT));
                }
            });
        }
    }

    private void checkLogits(String what, ModelConfig config, DType dtype, GraphMode graph) {
        Program program = config.program(Math.min(config.contextLength(), CONTEXT));
        RandomData data = new RandomData(1);
        Weights weights = RandomModels.weights(program, dtype, data);
        int[] text = data.ints(PROMPT + 2, program.vocabSize());
        check(what + " " + dtype + " " + graph, () -> {
            try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                    TornadoForwardPass engine = open(program, weights, dtype, graph, ROWS)) {
                int[] prompt = Arrays.copyOf(text, PROMPT);
                Bits.assertSame("prompt", engine.forward(prompt, 0), host.forward(prompt, 0));
                for (int position = PROMPT; position < text.length; position++) {
                    int[] token = {text[position]};
                    Bits.assertSame(
                            "position " + position, engine.forward(token, position), host.forward(token, position));
                }
            }
        });
    }

    /** Sequences that run together, in kernels for one row, for a few and for many; each against itself alone. */
    private void checkBatches(String family, ModelConfig config, DType dtype, KvType kvType, GraphMode graph) {
        Program program = config.program(config.contextLength());
        RandomData data = new RandomData(1);
        Weights weights = RandomModels.weights(program, dtype, data);
        List<BatchSchedule.Text> texts = new ArrayList<>();
        try (ForwardPass alone = new HostForwardPass(new HostInterpreter(
                program,
                weights,
                new ScalarOps(),
                kvType,
                HostInterpreter.cacheBytes(program, kvType, program.contextLength())))) {
            for (int length : new int[] {3, 12, 140, 7, 131, 20}) {
                int[] tokens = data.ints(length, program.vocabSize());
                float[][] logits = new float[length][];
                alone.forwardAll(
                        tokens,
                        0,
                        (position, all, offset) ->
                                logits[position] = Arrays.copyOfRange(all, offset, offset + program.vocabSize()));
                texts.add(new BatchSchedule.Text(tokens, logits));
            }
        }
        check(family + " " + dtype + " " + graph + " in batches, cache " + kvType, () -> {
            DeviceOptions options = DeviceOptions.of(device)
                    .withGraph(graph)
                    .withPrefillRows(BATCH_ROWS)
                    .withKvType(kvType);
            long cacheBytes = TornadoEngine.cacheBytes(program, kvType, BATCH_PAGES * AttentionShape.PAGE);
            try (TornadoEngine engine = TornadoEngine.open(program, dtype, _ -> weights, options, cacheBytes)) {
                BatchSchedule.run("logits", engine, texts, data);
            }
        });
    }

    /** Each layer's weights in arrays of their own, as where one array of all layers would be too large. */
    private void checkLayersInGroups() {
        Program program = GPT2.program(64);
        Weights weights = RandomModels.weights(program, DType.F32, new RandomData(1));
        long smallBuffers = 300_000;
        DeviceInfo small = new DeviceInfo(
                device.id(),
                device.backend(),
                device.kind(),
                device.name(),
                device.platform(),
                device.memoryBytes(),
                smallBuffers,
                device.maxWorkGroupSize(),
                device.fp64(),
                device.fp16());
        int[] text = new RandomData(2).ints(9, program.vocabSize());
        check("gpt2 F32 LAYERED in groups", () -> {
            DeviceOptions options = DeviceOptions.of(small).withPrefillRows(1);
            try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                    TornadoForwardPass engine = TornadoForwardPass.open(program, DType.F32, _ -> weights, options)) {
                Bits.assertSame("logits", engine.forward(text, 0), host.forward(text, 0));
            }
        });
    }

    private static boolean isNormal(float value) {
        return value == 0 || Float.isFinite(value) && Math.abs(value) >= Float.MIN_NORMAL;
    }

    /**
     * Every pattern of 16 bits, as a kernel reads a weight; NaN as an infinity of its sign.
     *
     * @param compared by value
     */
    private void checkPatterns(DType dtype, Predicate<Float> compared) {
        check("all patterns of " + dtype, () -> {
            int count = 1 << Short.SIZE;
            IntArray patterns = new IntArray(count / 2);
            float[] expected = new float[count];
            for (int bits = 0; bits < count; bits++) {
                patterns.set(bits / 2, patterns.get(bits / 2) | bits << bits % 2 * Short.SIZE);
                float value = dtype == DType.BF16
                        ? Float.intBitsToFloat(bits << Short.SIZE)
                        : Float.float16ToFloat((short) bits);
                float infinity = (short) bits < 0 ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
                expected[bits] = Float.isNaN(value) ? infinity : value;
            }
            float[] actual = widened(patterns, dtype == DType.BF16 ? WeightFormat.BF16 : WeightFormat.F16);
            for (int bits = 0; bits < count; bits++) {
                if (!compared.test(expected[bits])) {
                    actual[bits] = expected[bits];
                }
            }
            Bits.assertSame("pattern", actual, expected);
        });
    }

    /** A table of one token, looked up. */
    private float[] widened(IntArray patterns, int format) {
        IntArray tokens = IntArray.fromElements(0);
        IntArray step = IntArray.fromElements(1);
        FloatArray noFloats = FloatArray.fromElements(0f);
        FloatArray scales = FloatArray.fromElements(1f);
        FloatArray powers = WeightFormat.powers(format);
        FloatArray out = new FloatArray(2 * patterns.getSize());
        out.init(Float.NaN);
        TaskGraph graph = new TaskGraph("patterns")
                .transferToDevice(DataTransferMode.FIRST_EXECUTION, tokens, noFloats, patterns, scales, powers, step)
                .task(
                        "widen",
                        EmbeddingKernels::lookUpTokens,
                        tokens,
                        noFloats,
                        patterns,
                        scales,
                        powers,
                        step,
                        out,
                        format,
                        1,
                        2 * patterns.getSize(),
                        1,
                        1f)
                .transferToHost(DataTransferMode.EVERY_EXECUTION, out);
        TornadoExecutionPlan plan = new TornadoExecutionPlan(graph.snapshot());
        plan.withDevice(TornadoDevices.resolve(device.id())).execute();
        plan.freeDeviceMemory();
        return out.toHeapArray();
    }

    private void check(String name, Runnable body) {
        results.println("? " + name);
        try {
            body.run();
            results.println("+ " + name);
        } catch (RuntimeException | AssertionError e) {
            results.println("- " + name + "\t" + String.valueOf(e.getMessage()).replace('\n', ' '));
        }
    }

    private TornadoForwardPass open(Program program, Weights weights, DType dtype, GraphMode graph, int rows) {
        DeviceOptions options = DeviceOptions.of(device).withGraph(graph).withPrefillRows(rows);
        return TornadoForwardPass.open(program, dtype, _ -> weights, options);
    }

    /** Every trace point of a prompt that runs in chunks and of single tokens; a check for each Op. */
    private void checkOps(String family, ModelConfig config, DType dtype) {
        Program program = config.program(config.contextLength());
        RandomData data = new RandomData(dtype.ordinal());
        Weights weights = RandomModels.weights(program, dtype, data);
        TracePoints expected = new TracePoints();
        TracePoints actual = new TracePoints();
        String what = family + " " + dtype;
        check(what + " traced", () -> {
            try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                    TornadoForwardPass traced = open(program, weights, dtype, GraphMode.LAYERED, ROWS)) {
                host.trace(expected);
                traced.trace(actual);
                int[] text = data.ints(program.contextLength(), program.vocabSize());
                for (ForwardPass engine : List.of(host, traced)) {
                    engine.forward(Arrays.copyOf(text, text.length - 2), 0);
                    engine.forward(Arrays.copyOfRange(text, text.length - 2, text.length - 1), text.length - 2);
                    engine.forward(Arrays.copyOfRange(text, text.length - 1, text.length), text.length - 1);
                }
            }
            if (!actual.rows().keySet().equals(expected.rows().keySet())) {
                throw new AssertionError("other trace points than the host's");
            }
        });
        Set<String> ops = new TreeSet<>();
        expected.rows().keySet().forEach(point -> ops.add(point.op()));
        for (String op : ops) {
            check(
                    what + " " + op,
                    () -> expected.rows().forEach((point, row) -> {
                        if (point.op().equals(op)) {
                            Bits.assertSame(point.toString(), actual.rows().get(point), row);
                        }
                    }));
        }
    }

    /** Ten tokens, greedy and with a seed, from kernels as the program runs them. */
    private void checkText(String family, ModelConfig config, DType dtype, GraphMode graph, int rows) {
        Program program = config.program(config.contextLength());
        RandomData data = new RandomData(family.length());
        Weights weights = RandomModels.weights(program, dtype, data);
        int[] prompt = data.ints(PROMPT, program.vocabSize());
        Map<String, SamplingOptions> samplings = new LinkedHashMap<>();
        samplings.put("greedy", SamplingOptions.GREEDY);
        samplings.put("seeded", SamplingOptions.DEFAULT);
        try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                TornadoForwardPass engine = open(program, weights, dtype, graph, rows)) {
            samplings.forEach((name, sampling) -> check(family + " " + dtype + " " + graph + " " + name, () -> {
                int[] wanted = generate(host, prompt, sampling);
                int[] got = generate(engine, prompt, sampling);
                if (!Arrays.equals(got, wanted)) {
                    throw new AssertionError("ids " + Arrays.toString(got) + " instead of " + Arrays.toString(wanted));
                }
            }));
            results.printf(
                    "# %s %s: %d kernels compiled in %d ms%n",
                    family, graph, engine.kernelsCompiled(), engine.jitNanos() / 1_000_000);
        }
    }

    private static int[] generate(ForwardPass engine, int[] prompt, SamplingOptions sampling) {
        return Generations.sampled(engine, prompt, sampling, GenerationOptions.ofTokens(TOKENS))
                .ids();
    }
}
