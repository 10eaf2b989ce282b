package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.ContextLength;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TokenIds;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.SlowNotice;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.engines.TornadoSdk;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.verify.BesideOthers;
import io.github.tornadotransformers.runner.verify.Comparison;
import io.github.tornadotransformers.runner.verify.EngineCheck;
import io.github.tornadotransformers.runner.verify.Environment;
import io.github.tornadotransformers.runner.verify.Fault;
import io.github.tornadotransformers.runner.verify.GoldenTrace;
import io.github.tornadotransformers.runner.verify.JsonResult;
import io.github.tornadotransformers.runner.verify.KernelCheck;
import io.github.tornadotransformers.runner.verify.MarkdownResult;
import io.github.tornadotransformers.runner.verify.ProgramKernelCheck;
import io.github.tornadotransformers.runner.verify.PublishedFacts;
import io.github.tornadotransformers.runner.verify.Tolerance;
import io.github.tornadotransformers.runner.verify.VerifyReport;
import io.github.tornadotransformers.runner.verify.VerifyResult;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import io.github.tornadotransformers.taskgraphs.probe.ProbeResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says whether engines compute the same, and where they begin to differ. */
@Command(
        name = "verify",
        description = {
            "Run engines side by side and compare every step: the embeddings, both residuals of every block, the logits and"
                    + " the chosen token. Strict engines must agree bit for bit.",
            "",
            "Exit code 0 only if all agree on finite values, 1 if not, 3 if an engine could not run."
        },
        sortOptions = false)
final class VerifyCommand implements Callable<Integer> {
    private static final List<EngineKind> DEFAULT_ENGINES = List.of(EngineKind.SCALAR, EngineKind.HOST);
    private static final String DEFAULT_PROMPT = "Once upon a time";
    private static final int DEFAULT_IDS = 8;
    private static final long KERNEL_SEED = 20_250_701;
    private static final long NEIGHBOURS_SEED = 13;
    private static final int MOST_NEIGHBOURS = 31;
    private static final double NANOS_PER_MILLI = 1e6;

    private final Console console;
    private final DeviceProbes probes = new DeviceProbes(this::tell);

    @Parameters(
            arity = "0..1",
            paramLabel = "MODEL",
            description = "a checkpoint's folder, a name that `transformers models` lists, or OWNER/NAME of the hub")
    String model;

    @Option(
            names = {"-e", "--engines", "--engine"},
            paramLabel = "A,B",
            split = ",",
            hideParamSyntax = true,
            description = {
                "the first is the reference (default: scalar,host; for --kernels host): host, scalar,"
                        + " tornado, opencl, ptx, spirv, cuda, metal"
            })
    List<EngineKind> engines = List.of();

    @Option(
            names = "--steps",
            paramLabel = "N",
            description = "forward passes: the prompt, then a token each (default: ${DEFAULT-VALUE})")
    int steps = 10;

    @Option(
            names = "--prompt",
            paramLabel = "TEXT",
            description = "what to run; - is standard input, as it is (default: \"" + DEFAULT_PROMPT + "\")")
    String prompt;

    @Mixin
    TextFile file;

    @Option(
            names = "--prompt-ids",
            paramLabel = "5,17,99",
            split = ",",
            description = "token ids instead of a text; needs no tokenizer")
    int[] promptIds;

    @Option(
            names = "--beside",
            paramLabel = "N",
            description = "run every engine but the first together with N other sequences: nothing may depend on them")
    int beside;

    @Option(names = "--trace", paramLabel = "op", description = "op: compare the output of every Op")
    String trace;

    @Option(
            names = "--golden",
            paramLabel = "FILE",
            description = "compare with a stored trace of an independent implementation")
    Path golden;

    @Option(names = "--published", description = "check what others have published about this released model")
    boolean published;

    @Option(
            names = "--kernels",
            description = "check every kernel by itself against scalar, over many shapes; needs no model")
    boolean kernels;

    @Option(names = "--report", paramLabel = "DIR", description = "write report.html and report.json there")
    Path report;

    @Option(
            names = "--dump-kernels",
            description = "with --report: write the source of every kernel compiled for a device there, too")
    boolean dumpKernels;

    @Option(names = "--json", description = "print one JSON object instead of tables")
    boolean json;

    @Option(
            names = {"-q", "--quiet"},
            description = "print nothing but the result")
    boolean quiet;

    /** For the test suite and for demonstrations: an engine named "fault" that is wrong on purpose. */
    @Option(names = "--fault", hidden = true)
    String fault;

    @ArgGroup(validate = false, heading = "%nHow the models run:%n")
    ModelOptions options = new ModelOptions();

    @Mixin
    CommonOptions common;

    VerifyCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        requireSensibleCall();
        if (dumpKernels) {
            RuntimeSettings.keepKernelSources(VerifyReport.kernelSources(report));
        }
        VerifyResult result = kernels ? checkKernels() : checkModel();
        if (report != null) {
            say("report: " + VerifyReport.write(report, result));
        }
        console.out().print(json ? JsonResult.of(result).toString() + "\n" : MarkdownResult.of(result));
        return result.passes() ? ExitCode.OK : ExitCode.FAILURE;
    }

    private void requireSensibleCall() {
        if (kernels == (model != null)) {
            throw Failure.usage("expected a MODEL or --kernels, one of them");
        }
        if (kernels && (golden != null || published || fault != null)) {
            throw Failure.usage("--golden and --published are about a MODEL, --kernels needs none");
        }
        if (dumpKernels && report == null) {
            throw Failure.usage("--dump-kernels is for --report, expected the report's folder");
        }
        if (steps < 1) {
            throw Failure.usage("--steps is " + steps + ", expected 1 or more");
        }
        if (beside < 0 || beside > MOST_NEIGHBOURS) {
            throw Failure.usage("--beside is " + beside + ", expected 0 to " + MOST_NEIGHBOURS);
        }
        if (beside > 0 && (kernels || golden != null || published || fault != null)) {
            throw Failure.usage("--beside is for engines that run a MODEL side by side");
        }
        if (trace != null && !trace.equals("op")) {
            throw Failure.usage("--trace is '" + trace + "', expected op");
        }
        if (promptIds != null) {
            file.requireNoText("--prompt", prompt);
        }
        if (new HashSet<>(engines).size() < engines.size()) {
            throw Failure.usage("--engines names an engine twice: " + engines);
        }
        if (!kernels && golden == null && !published && engines().size() < 2 && fault == null) {
            throw Failure.usage("--engines names one engine, expected two or more to compare, as in scalar,"
                    + (engines.getFirst() == EngineKind.SCALAR ? EngineKind.HOST : engines.getFirst()));
        }
    }

    private boolean hasText() {
        return prompt != null || file.path != null;
    }

    private EngineSettings settings(EngineKind engine) {
        StatusLine status = quiet ? StatusLine.none() : console.status();
        return options.settingsFor(engine)
                .withSequences(1 + beside)
                .withCompileListener(new CompileStatus(status))
                .withProbes(probes);
    }

    private List<EngineKind> engines() {
        return engines.isEmpty() ? DEFAULT_ENGINES : engines;
    }

    private VerifyResult checkKernels() {
        List<EngineKind> chosen = engines.isEmpty() ? List.of(EngineKind.HOST) : engines;
        Map<String, List<KernelCheck.Verdict>> verdicts = new LinkedHashMap<>();
        for (EngineKind engine : chosen) {
            say("checking every kernel on engine " + engine);
            verdicts.put(engine.toString(), engine.onDevice() ? checkDevice(engine) : checkHost(engine));
        }
        return new VerifyResult(
                "kernels", List.of(), 0, List.of(), List.of(), verdicts, Map.of(), List.of(), environment());
    }

    private List<KernelCheck.Verdict> checkHost(EngineKind engine) {
        try (HostOps ops = Engines.openOps(settings(engine))) {
            return KernelCheck.run(ops, Tolerance.EXACT, KERNEL_SEED);
        }
    }

    private List<KernelCheck.Verdict> checkDevice(EngineKind engine) {
        EngineSettings device = settings(engine);
        EngineSettings scalar = EngineSettings.of(EngineKind.SCALAR);
        return ProgramKernelCheck.run(
                (model, dtype) -> Engines.open(model, scalar.withDType(dtype)),
                (model, dtype) -> Engines.open(model, device.withDType(dtype)),
                dtype -> tolerance(engine, dtype),
                KERNEL_SEED);
    }

    private VerifyResult checkModel() {
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(model));
        checkpoint.notices().forEach(this::say);
        List<Opened> opened = new ArrayList<>();
        try {
            for (EngineKind engine : engines()) {
                opened.add(open(checkpoint, engine));
            }
            if (fault != null) {
                opened.add(openFault(checkpoint));
            }
            return check(checkpoint, opened);
        } finally {
            opened.reversed().forEach(Opened::close);
        }
    }

    /** A forward pass under its name in the result. */
    private record Opened(String name, EngineSession session) {
        ForwardPass forward() {
            return session.forward();
        }

        void close() {
            session.close();
        }
    }

    private Opened open(Checkpoint checkpoint, EngineKind engine) {
        Opened opened = load(checkpoint, engine);
        say(engine + ": " + opened.session.device() + ", " + name(opened.session.dtype()));
        return opened;
    }

    private Opened load(Checkpoint checkpoint, EngineKind engine) {
        EngineSettings settings = settings(engine);
        try (SlowNotice _ = SlowNotice.after(this::say, () -> engine + ": " + Engines.loading(checkpoint, settings))) {
            return new Opened(engine.toString(), Engines.open(checkpoint, settings));
        }
    }

    private Opened openFault(Checkpoint checkpoint) {
        Fault parsed = Fault.parse(fault);
        EngineSession session = Engines.openHost(
                checkpoint, settings(EngineKind.SCALAR), (program, weights) -> parsed.open(program, weights));
        return new Opened("fault " + fault, session);
    }

    private VerifyResult check(Checkpoint checkpoint, List<Opened> opened) {
        List<Comparison> comparisons = new ArrayList<>();
        Map<String, List<PublishedFacts.Outcome>> facts = new LinkedHashMap<>();
        Optional<Tokenizer> tokenizer = promptIds == null || published ? tokenizer(checkpoint) : Optional.empty();
        int[] ids = {};
        ToLongFunction<String> nanos = _ -> 0;
        if (golden != null) {
            GoldenTrace expected = GoldenTrace.read(golden);
            ContextLength.requireRoom(
                    "the golden trace has " + expected.positions() + " positions",
                    expected.positions(),
                    "take a shorter trace",
                    checkpoint.config(),
                    settings(EngineKind.SCALAR));
            for (Opened each : opened) {
                comparisons.add(expected.check(each.name, each.forward(), Tolerance.GOLDEN));
            }
        } else if (published) {
            PublishedFacts about = PublishedFacts.about(checkpoint.config())
                    .orElseThrow(() -> Failure.of("nothing published is known about a model of this shape: --published"
                            + " is for the released gpt2 and llama2-7b"));
            opened.forEach(each -> facts.put(each.name, about.check(tokenizer, each.forward())));
        } else {
            ids = promptIds(checkpoint, tokenizer);
            EngineCheck check = new EngineCheck(
                    subject(opened.getFirst(), opened.getFirst().forward()),
                    opened.stream().skip(1).map(this::subject).toList(),
                    trace != null);
            comparisons.addAll(check.run(ids, steps));
            nanos = check::forwardNanos;
            for (int i = 0; i < comparisons.size(); i++) {
                if (opened.get(i + 1).session.engine().onDevice()) {
                    Opened again = reopen(checkpoint, opened, i + 1);
                    check.runAsText(forward(again), comparisons.get(i));
                }
            }
        }
        VerifyResult result = new VerifyResult(
                model,
                Arrays.stream(ids).boxed().toList(),
                ids.length == 0 ? 0 : steps,
                runs(opened, nanos),
                comparisons,
                Map.of(),
                facts,
                List.of(),
                environment());
        return result.isFinite() ? result : result.withBroken(checkpoint.nonFiniteTensors());
    }

    /** An engine anew, as a device is traced from its first token on or never; the other makes room for it. */
    private Opened reopen(Checkpoint checkpoint, List<Opened> opened, int index) {
        Opened traced = opened.remove(index);
        traced.close();
        say(traced.name + ": the same text, untraced");
        opened.add(index, load(checkpoint, traced.session.engine()));
        return opened.get(index);
    }

    private EngineCheck.Subject subject(Opened opened) {
        return subject(opened, forward(opened));
    }

    private EngineCheck.Subject subject(Opened opened, ForwardPass forward) {
        EngineSession session = opened.session;
        return new EngineCheck.Subject(opened.name, forward, tolerance(session.engine(), session.dtype()));
    }

    private ForwardPass forward(Opened opened) {
        return beside == 0
                ? opened.forward()
                : new BesideOthers(Guessers.batches(opened.session, "--beside"), beside, NEIGHBOURS_SEED);
    }

    private Tolerance tolerance(EngineKind engine, DType dtype) {
        return engine.onDevice() && options.math == MathMode.FAST ? Tolerance.fast(dtype) : Tolerance.EXACT;
    }

    private static List<VerifyResult.EngineRun> runs(List<Opened> opened, ToLongFunction<String> nanos) {
        return opened.stream()
                .map(each -> new VerifyResult.EngineRun(
                        each.name,
                        each.session.device(),
                        name(each.session.dtype()),
                        Json.milliseconds(each.session.loadNanos()),
                        nanos.applyAsLong(each.name) / NANOS_PER_MILLI))
                .toList();
    }

    private Optional<Tokenizer> tokenizer(Checkpoint checkpoint) {
        try {
            return Tokenizer.loadIfPresent(checkpoint.path());
        } catch (CheckpointException e) {
            if (hasText() || published) {
                throw e;
            }
            say("no text: " + e.getMessage());
            return Optional.empty();
        }
    }

    private int[] promptIds(Checkpoint checkpoint, Optional<Tokenizer> tokenizer) {
        int[] ids = promptIds;
        if (ids == null && hasText() && tokenizer.isEmpty()) {
            throw Failure.of(model + " has no tokenizer: give --prompt-ids instead of a text");
        }
        if (ids == null) {
            ids = tokenizer
                    .map(each -> each.encodePrompt(text()))
                    .orElseGet(() -> someIds(checkpoint.config().vocabSize()));
        }
        TokenIds.requireInVocabulary("prompt", ids, checkpoint.config().vocabSize());
        long positions = (long) ids.length + steps - 1;
        ContextLength.requireRoom(
                "the prompt's " + ids.length + " tokens and " + (steps - 1) + " more need " + positions + " positions",
                positions,
                "take fewer steps or a shorter prompt",
                checkpoint.config(),
                settings(EngineKind.SCALAR));
        return ids;
    }

    /** What is piped in is left alone here: a loop over models that a script reads would lose the rest of them. */
    private String text() {
        return new TextInput(console).given("--prompt", prompt, file).orElse(DEFAULT_PROMPT);
    }

    /** Ids for a model without tokenizer: no two neighbours alike where the vocabulary allows. */
    private static int[] someIds(int vocabSize) {
        int[] ids = new int[DEFAULT_IDS];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (7 * i + 1) % vocabSize;
        }
        return ids;
    }

    private Map<String, String> environment() {
        Optional<Path> sdk = TornadoSdk.of(console).map(TornadoSdk::home);
        Map<String, String> facts = Environment.describe(Version.ofProject(), sdk);
        probes.results().forEach((device, result) -> facts.put("arithmetic of " + device, result.toString()));
        return facts;
    }

    private static String name(DType dtype) {
        return dtype.toString().toLowerCase(Locale.ROOT);
    }

    /** It is compared all the same: which kernels suffer is what is to be found out. */
    private void tell(DeviceInfo device, ProbeResult found) {
        found.findings()
                .forEach(finding -> say(device + " is refused elsewhere in strict mode: its driver " + finding));
    }

    private void say(String line) {
        if (!quiet) {
            console.err().println(line);
        }
    }
}
