package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.benchmarks.BenchReport;
import io.github.tornadotransformers.benchmarks.BenchRow;
import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.benchmarks.CsvReport;
import io.github.tornadotransformers.benchmarks.EarlierRun;
import io.github.tornadotransformers.benchmarks.JsonReport;
import io.github.tornadotransformers.benchmarks.KernelBench;
import io.github.tornadotransformers.benchmarks.Limits;
import io.github.tornadotransformers.benchmarks.Machine;
import io.github.tornadotransformers.benchmarks.MarkdownReport;
import io.github.tornadotransformers.benchmarks.ModelBench;
import io.github.tornadotransformers.benchmarks.ModelProfile;
import io.github.tornadotransformers.benchmarks.OpCase;
import io.github.tornadotransformers.benchmarks.OpCases;
import io.github.tornadotransformers.benchmarks.Prediction;
import io.github.tornadotransformers.benchmarks.Roofline;
import io.github.tornadotransformers.benchmarks.TokenPredictionReport;
import io.github.tornadotransformers.benchmarks.gpu.Gpu;
import io.github.tornadotransformers.benchmarks.gpu.TokenPrediction;
import io.github.tornadotransformers.benchmarks.gpu.TokenPrediction.Shape;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.engine.HostMemory;
import io.github.tornadotransformers.engine.VectorModule;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.runner.commands.EngineListOptions.Choice;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.engines.TornadoSdk;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.verify.Environment;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says how fast models run here, and how far that is from the machine's limit. */
@Command(
        name = "bench",
        customSynopsis = "transformers bench MODEL... [OPTION]...",
        description = {
            "Time models, and hold them against what this machine can do: the memory's read bandwidth for decoding, the peak"
                    + " of fused products and sums for prefill, both measured in the same run, beside each figure.",
            "",
            "A comma makes a list: -e host,scalar --dtype f32,bf16 --threads 1,2 -d 0,900 runs all combinations."
        },
        sortOptions = false)
final class BenchCommand implements Callable<Integer> {
    private static final int MOST_REPETITIONS = 1000;
    private static final int MOST_SEQUENCES = 1000;
    private static final double MOST_WARM_UP_SECONDS = 3600;
    private static final double MODEL_WARM_UP_SECONDS = 3;
    private static final double KERNEL_WARM_UP_SECONDS = 0.5;
    private static final long SEED = 1;

    /** Busy cores from which figures are not to be trusted. */
    private static final double BUSY = 0.5;

    private final Console console;

    @Parameters(
            arity = "0..*",
            paramLabel = "MODEL",
            description =
                    "a checkpoint's folder, a name that `transformers models` lists, or a shape, which gets random"
                            + " weights: stories15M, gpt2-124M, tinyllama-1.1B, llama2-7B, llama2-70B")
    List<String> models = List.of();

    @Option(
            names = {"-p", "--prompt-tokens"},
            paramLabel = "N",
            split = ",",
            hideParamSyntax = true,
            description = "tokens of a prompt, all at once; 0: none (default: 512)")
    List<Integer> prompts = List.of(Prediction.PREFILL.tokens());

    @Option(
            names = {"-n", "--tokens"},
            paramLabel = "N",
            split = ",",
            hideParamSyntax = true,
            description = "tokens to generate, one by one; 0: none (default: 128)")
    List<Integer> tokens = List.of(Prediction.DECODE.tokens());

    @Option(
            names = {"-d", "--depth"},
            paramLabel = "N",
            split = ",",
            hideParamSyntax = true,
            description = "positions that hold tokens before the timed ones (default: 0)")
    List<Integer> depths = List.of(0);

    @Option(
            names = "--sequences",
            paramLabel = "N",
            split = ",",
            hideParamSyntax = true,
            description = "sequences that generate together, a token of each at a time (default: 1)")
    List<Integer> sequences = List.of(1);

    @Option(
            names = {"-r", "--repetitions"},
            paramLabel = "N",
            description = "how often each is timed (default: ${DEFAULT-VALUE})")
    int repetitions = 5;

    @Option(
            names = "--warmup",
            paramLabel = "SECONDS",
            description = "how long each runs before it is timed (default: 3, 0.5 for --kernels)")
    Double warmUpSeconds;

    @Option(
            names = "--kernels",
            description = "time every Op of the model by itself; each result is checked before it is timed")
    boolean kernels;

    @Option(
            names = "--profile",
            description = "where the time goes: the Ops of a token that is decoded and of a prompt, and their sum")
    boolean profile;

    @Option(
            names = "--op",
            paramLabel = "NAME",
            split = ",",
            hideParamSyntax = true,
            description = "with --kernels: these Ops only, such as qkvProj")
    List<String> ops = List.of();

    @Option(
            names = "--predict",
            description =
                    "predict tokens/s of models on this machine and on others, from bytes and operations; with --device"
                            + " NAME, what each kernel of a MODEL takes on a GPU, without one (-e ptx for what that backend compiles)")
    boolean predict;

    @Option(names = "--format", paramLabel = "FORMAT", description = "md (tables; default), json, csv")
    Format format = Format.MD;

    @Option(
            names = "--compare",
            paramLabel = "FILE",
            description = "an earlier result of --format json: adds ratios, and whether they are more than noise")
    Path compare;

    @Option(
            names = {"-q", "--quiet"},
            description = "print nothing but the result")
    boolean quiet;

    @ArgGroup(validate = false, heading = "%nHow the models run:%n")
    EngineListOptions engines = new EngineListOptions();

    @Mixin
    CommonOptions common;

    /** How the result is written. */
    enum Format {
        MD,
        JSON,
        CSV
    }

    /** A model by the name that it was given. */
    private record Model(String name, ModelSource source) {
        ModelConfig config() {
            return source.config();
        }
    }

    BenchCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        requireSensibleCall();
        if (predict && engines.device != null) {
            print(predictTokens());
            return ExitCode.OK;
        }
        List<Choice> choices = engines.choices();
        if ((kernels || profile)
                && choices.stream().anyMatch(choice -> choice.engine().onDevice())) {
            throw Failure.usage((kernels ? "--kernels" : "--profile")
                    + " times the engines host and scalar: a device runs programs, not single Ops");
        }
        Optional<EarlierRun> earlier = Optional.ofNullable(compare).map(EarlierRun::read);
        List<Model> chosen = models.stream().map(this::model).toList();
        chosen.forEach(this::requireFitting);
        Map<String, String> environment = environment();
        VectorModule.require();
        try (Roofline roofline = new Roofline()) {
            List<Limits> limits = limits(roofline, choices);
            List<BenchRow> rows =
                    kernels ? kernelRows(chosen, choices, roofline) : modelRows(chosen, choices, roofline);
            List<Prediction> predictions = predict ? predictions(limits.getLast()) : List.of();
            print(new BenchReport(environment, limits, rows, predictions), earlier);
        }
        return ExitCode.OK;
    }

    private void print(BenchReport report, Optional<EarlierRun> earlier) {
        console.out()
                .print(
                        switch (format) {
                            case MD -> MarkdownReport.of(report, earlier);
                            case JSON -> JsonReport.of(report, earlier) + "\n";
                            case CSV -> CsvReport.of(report, earlier);
                        });
        earlier.ifPresent(run -> run.notices(report).forEach(this::say));
    }

    /** A token in the middle of those that are asked for, of each model in each type. */
    private List<TokenPredictionReport> predictTokens() {
        Gpu gpu = Gpu.named(engines.device)
                .orElseThrow(() -> Failure.usage("--device " + engines.device + " is not one that --predict knows: "
                        + String.join(", ", Gpu.names())));
        Backend backend = engines.engines.contains(EngineKind.PTX) ? Backend.PTX : Backend.CUDA;
        List<TokenPredictionReport> reports = new ArrayList<>();
        for (String name : models.isEmpty() ? Prediction.MODELS : models) {
            Model model = shape(name);
            for (BenchTest test : tests(model, List.of())) {
                for (DType dtype : dtypes(List.of(model.source().storedDType()))) {
                    reports.add(predict(model, dtype, gpu, backend, test));
                }
            }
        }
        return reports;
    }

    private TokenPredictionReport predict(Model model, DType dtype, Gpu gpu, Backend backend, BenchTest test) {
        Function<Shape, TokenPrediction> predicted = kernelShape -> TokenPrediction.of(
                model.name(),
                model.source(),
                dtype,
                gpu,
                backend,
                kernelShape,
                test.positions(),
                test.depth() + test.tokens() / 2);
        return new TokenPredictionReport(predicted.apply(Shape.GROUPS), predicted.apply(Shape.LOOPS));
    }

    private void print(List<TokenPredictionReport> reports) {
        console.out()
                .print(
                        switch (format) {
                            case MD -> TokenPredictionReport.markdown(reports);
                            case JSON -> TokenPredictionReport.json(reports) + "\n";
                            case CSV -> TokenPredictionReport.csv(reports);
                        });
    }

    private void requireSensibleCall() {
        if (models.isEmpty() && !(predict && engines.device == null)) {
            throw Failure.usage("a MODEL is missing" + (predict ? "" : ", or --predict"));
        }
        if (!models.isEmpty() && predict && engines.device == null) {
            throw Failure.usage("--predict of a MODEL needs --device, one of " + String.join(", ", Gpu.names()));
        }
        if (predict && (kernels || profile || compare != null)) {
            throw Failure.usage("--kernels, --profile and --compare time a MODEL, --predict times none");
        }
        if (predict
                && engines.device != null
                && (together() > 1 || counts(tokens).isEmpty())) {
            throw Failure.usage("--predict --device is about tokens of one sequence: leave out --sequences and -n 0");
        }
        if (kernels && profile) {
            throw Failure.usage("--kernels times Ops by themselves, --profile within a model: choose one");
        }
        if (!ops.isEmpty() && !kernels) {
            throw Failure.usage("--op is for --kernels");
        }
        if (repetitions < 1 || repetitions > MOST_REPETITIONS) {
            throw Failure.usage("--repetitions is " + repetitions + ", expected 1 to " + MOST_REPETITIONS);
        }
        if (warmUpSeconds != null && !(warmUpSeconds >= 0 && warmUpSeconds <= MOST_WARM_UP_SECONDS)) {
            throw Failure.usage(
                    "--warmup is " + warmUpSeconds + ", expected 0 to " + (int) MOST_WARM_UP_SECONDS + " seconds");
        }
        requireNoneNegative("--prompt-tokens", prompts);
        requireNoneNegative("--tokens", tokens);
        requireNoneNegative("--depth", depths);
        for (int count : sequences) {
            if (count < 1 || count > MOST_SEQUENCES) {
                throw Failure.usage("--sequences is " + count + ", expected 1 to " + MOST_SEQUENCES);
            }
        }
        if (kernels && together() > 1) {
            throw Failure.usage("--kernels times Ops of one sequence: leave --sequences out");
        }
        if (!predict && phases().isEmpty()) {
            throw Failure.usage("-p 0 and -n 0 leave nothing to time");
        }
    }

    private static void requireNoneNegative(String option, List<Integer> values) {
        for (int value : values) {
            if (value < 0) {
                throw Failure.usage(option + " is " + value + ", expected 0 or more");
            }
        }
    }

    private Model model(String name) {
        Optional<ModelConfig> shape = ModelPresets.named(name);
        if (shape.isPresent()) {
            return new Model(name, new RandomModel(shape.get(), SEED));
        }
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(name));
        checkpoint.notices().forEach(this::say);
        return new Model(name, checkpoint);
    }

    /** A model of which nothing but its shape is asked for: a folder needs no weights, and a published model no folder. */
    private Model shape(String name) {
        Path config = Path.of(name).resolve("config.json");
        return ModelPresets.named(name)
                .or(() -> Files.isRegularFile(config)
                        ? Optional.of(Checkpoint.readConfig(config))
                        : ModelPresets.like(name))
                .map(found -> new Model(name, new RandomModel(found, SEED)))
                .orElseGet(() -> model(name));
    }

    /** Ends the command where a model has too few positions, or lacks an Op that is asked for. */
    private void requireFitting(Model model) {
        if (kernels) {
            List<OpCases.Key> _ = keys(new OpCases(model.config()));
        } else {
            List<BenchTest> _ = tests(model);
        }
    }

    private List<OpCases.Key> keys(OpCases cases) {
        return cases.keys(phases(), ops, dtypes(DType.OF_MATRICES));
    }

    /** With one thread, and with as many as each engine uses. */
    private List<Limits> limits(Roofline roofline, List<Choice> choices) {
        say("measuring what the machine can do …");
        return IntStream.concat(IntStream.of(1), choices.stream().mapToInt(Choice::threads))
                .filter(threads -> threads > 0)
                .distinct()
                .sorted()
                .mapToObj(roofline::measure)
                .toList();
    }

    private List<BenchRow> modelRows(List<Model> chosen, List<Choice> choices, Roofline roofline) {
        ModelBench bench = new ModelBench(roofline, repetitions, warmUp(MODEL_WARM_UP_SECONDS));
        List<BenchRow> rows = new ArrayList<>();
        for (Model model : chosen) {
            List<BenchTest> tests = tests(model);
            for (DType dtype : dtypes(List.of(model.source().storedDType()))) {
                choices.forEach(choice -> rows.addAll(modelRows(bench, model, dtype, choice, tests)));
            }
        }
        return rows;
    }

    private List<BenchRow> modelRows(ModelBench bench, Model model, DType dtype, Choice choice, List<BenchTest> tests) {
        int positions = tests.stream().mapToInt(BenchTest::positions).max().orElseThrow();
        EngineSettings settings = choice.settings()
                .withDType(dtype)
                .withContext(positions)
                .withSequences(together() == 1 ? 1 : together() + 1) // beside the one that runs alone
                .withCompileListener(new CompileStatus(quiet ? StatusLine.none() : console.status()));
        List<BenchRow> rows = new ArrayList<>();
        try (EngineSession session = Engines.open(model.source(), settings)) {
            if (together() > 1) {
                Engine _ = Guessers.batches(session, "--sequences");
            }
            for (BenchTest test : tests) {
                say(model.name() + " " + EnumConverter.spelled(dtype) + " on " + choice.engine() + " ("
                        + session.device() + "): " + test.name());
                if (profile) {
                    rows.addAll(
                            new ModelProfile(bench).run(model.name(), model.source(), session, test, choice.threads()));
                } else {
                    rows.add(bench.run(model.name(), model.source(), session, test, choice.threads()));
                }
            }
        }
        return rows;
    }

    private List<BenchTest> tests(Model model) {
        return tests(model, prompts);
    }

    /** @throws Failure if the model has too few positions for one */
    private List<BenchTest> tests(Model model, List<Integer> prompts) {
        List<BenchTest> tests = new ArrayList<>();
        for (int depth : depths) {
            counts(prompts).forEach(count -> tests.add(new BenchTest(BenchTest.Phase.PREFILL, count, depth)));
            for (int count : counts(tokens)) {
                sequences.forEach(n -> tests.add(new BenchTest(BenchTest.Phase.DECODE, count, depth, n)));
            }
        }
        int context = model.config().contextLength();
        for (BenchTest test : tests) {
            long needed = (long) test.tokens() + test.depth();
            if (needed > context) {
                throw Failure.usage(test.name() + " needs " + needed + " positions, and " + model.name()
                        + " was trained for " + context + ": choose a smaller -p, -n or -d");
            }
        }
        return tests;
    }

    private List<BenchRow> kernelRows(List<Model> chosen, List<Choice> choices, Roofline roofline) {
        KernelBench bench = new KernelBench(roofline, repetitions, warmUp(KERNEL_WARM_UP_SECONDS));
        List<BenchRow> rows = new ArrayList<>();
        for (Choice choice : choices) {
            try (HostOps engine = Engines.openOps(choice.settings())) {
                for (Model model : chosen) {
                    say(model.name() + " on " + choice.engine() + ", Op by Op");
                    OpCases cases = new OpCases(model.config());
                    for (OpCases.Key key : keys(cases)) {
                        try (OpCase each = cases.open(key)) {
                            rows.add(bench.run(
                                    model.name(), key.phase(), each, choice.engine(), engine, choice.threads()));
                        }
                    }
                }
            }
        }
        return rows;
    }

    private List<DType> dtypes(List<DType> otherwise) {
        return engines.dtypes.isEmpty() ? otherwise : engines.dtypes;
    }

    private List<BenchTest.Phase> phases() {
        List<BenchTest.Phase> phases = new ArrayList<>();
        if (!counts(tokens).isEmpty()) {
            phases.add(BenchTest.Phase.DECODE);
        }
        if (!counts(prompts).isEmpty()) {
            phases.add(BenchTest.Phase.PREFILL);
        }
        return phases;
    }

    /** At most how many sequences generate together. */
    private int together() {
        return sequences.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /** Without the 0 that stands for none. */
    private static List<Integer> counts(List<Integer> given) {
        return given.stream().filter(count -> count > 0).toList();
    }

    private double warmUp(double otherwise) {
        return warmUpSeconds == null ? otherwise : warmUpSeconds;
    }

    private static List<Prediction> predictions(Limits limits) {
        long memory = HostMemory.totalBytes().orElse(Long.MAX_VALUE);
        Machine here = new Machine("this machine, " + limits.words(), memory, limits, "measured");
        return Prediction.all(
                Stream.concat(Stream.of(here), Machine.published().stream()).toList());
    }

    private Map<String, String> environment() {
        Optional<Path> sdk = TornadoSdk.of(console).map(TornadoSdk::home);
        Map<String, String> facts = new LinkedHashMap<>(Environment.describe(Version.ofProject(), sdk));
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        String words = String.format(Locale.ROOT, "%.2f", load);
        facts.put("load before", words);
        if (load > BUSY) {
            say("the machine is busy (load " + words + "): these are not the figures of a quiet one");
        }
        return facts;
    }

    private void say(String line) {
        if (!quiet) {
            console.err().println(line);
        }
    }
}
