package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Interruption;
import io.github.tornadotransformers.runner.console.Progress;
import io.github.tornadotransformers.runner.console.SlowNotice;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Continues many prompts, a line each. */
@Command(
        name = "batch",
        customSynopsis = "transformers batch [FILE|-] [OPTION]...",
        description = {
            "Continue many prompts together: JSON lines in, JSON lines out, in the same order.",
            "",
            "A line is an object: prompt or prompt_ids, and any of id, tokens, temperature, top_k, top_p, min_p,"
                    + " repetition_penalty, seed, greedy, stop; the options below hold where it says nothing. Its answer has its id"
                    + " and the fields of `generate --json`, or an error. No answer depends on the lines beside it."
        },
        sortOptions = false)
final class BatchCommand implements Callable<Integer> {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int DEFAULT_JOBS = 8;
    private static final int MAX_JOBS = 4096;

    /** Lines under way for each that runs: so many may be done while one in front is not. */
    private static final int WINDOW = 8;

    private final Console console;

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            description = "JSON lines; - or none: standard input, answered as it comes")
    String input;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description =
                    "a checkpoint's folder, a name that `transformers models` lists, or OWNER/NAME[@REVISION] of the"
                            + " Hugging Face hub (default: ${DEFAULT-VALUE})")
    String model = ShippedModels.LLAMA;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = {
                "where the answers go instead of standard output; what it has already is not run again, so that a run that was"
                        + " interrupted goes on"
            })
    Path output;

    @Option(
            names = {"-j", "--jobs"},
            paramLabel = "N",
            description = "how many run together at most (default: ${DEFAULT-VALUE})")
    int jobs = DEFAULT_JOBS;

    @Option(
            names = {"-n", "--tokens"},
            paramLabel = "N",
            description = "how many tokens to generate (default: ${DEFAULT-VALUE})")
    int tokens = GenerationCommand.DEFAULT_TOKENS;

    @Option(
            names = "--stop",
            paramLabel = "TEXT",
            description = "end before this text or special token; may be given several times")
    List<String> stopTexts = List.of();

    @Mixin
    CacheFile cacheFile = new CacheFile();

    @Option(names = "--receipts", description = "give each answer a receipt, for `transformers replay`")
    boolean receipts;

    @Option(
            names = {"-q", "--quiet"},
            description = "print the answers only")
    boolean quiet;

    @ArgGroup(validate = false, heading = "%nHow a token is chosen:%n")
    SamplingArguments sampling = new SamplingArguments();

    @ArgGroup(validate = false, heading = "%nHow the model runs:%n")
    EngineOptions engine = new EngineOptions();

    @Mixin
    SpeculationOptions speculation;

    @Mixin
    CommonOptions common;

    BatchCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        requireSensibleCall();
        BatchRequest.Defaults defaults = new BatchRequest.Defaults(tokens, sampling.options(), stopTexts);
        EngineSettings settings = engine.settings(console, this::say)
                .withSequences(Math.max(2, jobs))
                .withCompileListener(new CompileStatus(status()));
        long started = System.nanoTime();
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(model));
        checkpoint.notices().forEach(this::say);
        Optional<Tokenizer> tokenizer = Tokenizer.loadIfPresent(checkpoint.path());
        try (BatchLines lines = lines();
                BatchOutput answers = answers()) {
            int answered = answers.skip(lines);
            long opened = System.nanoTime();
            try (EngineSession session = open(checkpoint, settings);
                    Guessers guessers = speculation.open(console, checkpoint, tokenizer, settings);
                    Interruption interruption = Interruption.watch();
                    Scheduler scheduler =
                            new Scheduler(Guessers.batches(session, "batch"), SchedulerLimits.ofRunning(jobs))) {
                CacheFile.Saving kept =
                        cacheFile.load(checkpoint, session, Guessers.batches(session, "batch"), this::say);
                say(model + ": " + checkpoint.config().modelType() + ", " + EnumConverter.spelled(session.dtype())
                        + ", on engine " + session.engine() + " (" + session.device() + "), " + jobs + " at a time"
                        + (answered == 0 ? "" : "; " + answered + " lines are answered already"));
                long loadNanos = opened - started + session.loadNanos();
                BatchModel asked = new BatchModel(
                        model,
                        checkpoint,
                        tokenizer,
                        session,
                        guessers,
                        loadNanos,
                        receipts ? Optional.of(checkpoint.hash()) : Optional.empty());
                BatchRun run = new BatchRun(
                        lines,
                        scheduler,
                        window(),
                        line -> asked.ask(BatchRequest.parse(line, defaults)),
                        answers::println);
                int code = run(run, interruption);
                kept.save();
                return code;
            }
        }
    }

    private int run(BatchRun run, Interruption interruption) {
        long began = System.nanoTime();
        try (Progress progress = Progress.of(status(), "generating", Progress.Unit.TOKENS, 0, OptionalLong.empty())) {
            run.run(() -> {
                progress.update(run.tokens());
                return interruption.requested();
            });
        }
        double seconds = (System.nanoTime() - began) / NANOS_PER_SECOND;
        say(String.format(
                Locale.ROOT,
                "%d lines, %d of them errors, %d tokens in %.1f s: %.1f tokens/s",
                run.answers(),
                run.errors(),
                run.tokens(),
                seconds,
                run.tokens() / seconds));
        if (interruption.requested()) {
            return ExitCode.INTERRUPTED;
        }
        return run.errors() == 0 ? ExitCode.OK : ExitCode.FAILURE;
    }

    private int window() {
        return jobs * WINDOW;
    }

    private void requireSensibleCall() {
        cacheFile.requireWritable();
        WrittenFile.require("--output", output);
        if (receipts) {
            ReplayCommand.requireExact(engine);
        }
        if (jobs < 1 || jobs > MAX_JOBS) {
            throw Failure.usage("--jobs is " + jobs + ", expected 1 to " + MAX_JOBS);
        }
        if (tokens < 1) {
            throw Failure.usage("--tokens is " + tokens + ", expected 1 or more");
        }
        if (stopTexts.contains("")) {
            throw Failure.usage("--stop is empty, expected a text");
        }
        if (output != null && !isStandardInput() && isSame(Path.of(input), output)) {
            throw Failure.usage("--output is " + output + ", the input: expected another file");
        }
    }

    private boolean isStandardInput() {
        return input == null || input.equals(TextInput.STANDARD_INPUT);
    }

    private static boolean isSame(Path one, Path other) {
        try {
            return Files.exists(other) && Files.isSameFile(one, other);
        } catch (IOException _) {
            return false;
        }
    }

    private BatchLines lines() {
        if (isStandardInput()) {
            return new BatchLines(console.in().stream(), "standard input");
        }
        return new BatchLines(TextInput.open(input), input);
    }

    private BatchOutput answers() {
        return output == null ? BatchOutput.to(console.out()) : BatchOutput.open(output, model);
    }

    private EngineSession open(Checkpoint checkpoint, EngineSettings settings) {
        try (SlowNotice _ = SlowNotice.after(this::say, () -> Engines.loading(checkpoint, settings))) {
            return Engines.openQuickly(checkpoint, settings);
        }
    }

    private StatusLine status() {
        return quiet ? StatusLine.none() : console.status();
    }

    private void say(String line) {
        if (!quiet) {
            console.err().println(line);
        }
    }
}
