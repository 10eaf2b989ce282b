package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.ContextLength;
import io.github.tornadotransformers.engine.EngineOpening;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.engine.LogitsHashes;
import io.github.tornadotransformers.engine.Receipt;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Generator;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.generation.StopReason;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Interruption;
import io.github.tornadotransformers.runner.console.SlowNotice;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gpt2} and {@code llama}: continues a prompt. */
abstract class GenerationCommand implements Callable<Integer> {
    private static final String JSON_OPTION = "--json";
    static final int DEFAULT_TOKENS = 40;

    private final Console console;

    @Parameters(
            arity = "0..1",
            paramLabel = "PROMPT",
            description =
                    "the text to continue, in quotes; - is standard input, as it is (default: what is piped in, or"
                            + " nothing to begin with)")
    String prompt;

    @Mixin
    TextFile file;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description =
                    "a checkpoint's folder, a name that `transformers models` lists, or OWNER/NAME[@REVISION] of the"
                            + " Hugging Face hub (default: ${DEFAULT-VALUE})")
    String model;

    @Option(
            names = {"-n", "--tokens"},
            paramLabel = "N",
            description = "how many tokens to generate (default: " + DEFAULT_TOKENS + ")")
    Integer tokens;

    @Option(
            names = "--prompt-ids",
            paramLabel = "5,17,99",
            split = ",",
            hideParamSyntax = true,
            description = "token ids instead of a text; needs no tokenizer")
    int[] promptIds;

    @Option(
            names = "--stop",
            paramLabel = "TEXT",
            description = "end before this text or special token; may be given several times")
    List<String> stopTexts = List.of();

    @Option(names = JSON_OPTION, description = "print one JSON object instead of the text")
    boolean json;

    @Option(
            names = {"-q", "--quiet"},
            description = "print the text only")
    boolean quiet;

    @ArgGroup(validate = false, heading = "%nHow a token is chosen:%n")
    SamplingArguments sampling = new SamplingArguments();

    @ArgGroup(validate = false, heading = "%nHow the model runs:%n")
    EngineOptions engine = new EngineOptions();

    @Mixin
    SpeculationOptions speculation;

    @Mixin
    CacheFile cacheFile = new CacheFile();

    @Option(
            names = "--receipt",
            paramLabel = "FILE",
            description =
                    "write what the answer depends on and a hash of every step's logits, for `transformers replay`")
    Path receipt;

    @Option(names = "--no-cache", description = "run the whole window again for every token: the baseline")
    boolean noCache;

    @Mixin
    CommonOptions common;

    GenerationCommand(Console console, String defaultModel) {
        this.console = console;
        this.model = defaultModel;
    }

    @Override
    public Integer call() {
        SamplingOptions samplingOptions = sampling.options();
        EngineSettings settings = engine.settings(console, this::say).withCompileListener(new CompileStatus(status()));
        requireSensibleCall();
        Optional<String> text = text();
        long started = System.nanoTime();
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(model));
        checkpoint.notices().forEach(this::say);
        try (EngineOpening opening = EngineOpening.of(checkpoint, settings)) {
            return generate(checkpoint, opening, settings, samplingOptions, text, started);
        }
    }

    private int generate(
            Checkpoint checkpoint,
            EngineOpening opening,
            EngineSettings settings,
            SamplingOptions samplingOptions,
            Optional<String> text,
            long started) {
        Optional<Tokenizer> tokenizer = tokenizer(checkpoint.path());
        int[] ids = promptIds(text.orElse(""), tokenizer);
        ContextLength.requireRoom(
                "the prompt has " + ids.length + " tokens",
                ids.length,
                "shorten the prompt",
                checkpoint.config(),
                settings);
        long opened = System.nanoTime();
        try (EngineSession session = open(checkpoint, opening, settings);
                Guessers guessers = speculation.open(console, checkpoint, tokenizer, settings);
                Interruption interruption = Interruption.watch()) {
            say(model + ": " + checkpoint.config().modelType() + ", " + EnumConverter.spelled(session.dtype())
                    + ", on engine " + session.engine() + " (" + session.device() + ")");
            GenerationOptions options =
                    Endings.of(tokens == null ? DEFAULT_TOKENS : tokens, stopTexts, checkpoint, tokenizer);
            GenerationResult result;
            LogitsHashes hashes;
            try (WatchedText watched = new WatchedText(
                    Math.max(1, ids.length),
                    status(),
                    () -> text.ifPresent(this::echo),
                    listener(tokenizer),
                    interruption::requested)) {
                hashes = new LogitsHashes(checkpoint.config().vocabSize(), watched);
                Generation generation = new Generation(
                        ids,
                        session.forward().program().contextLength(),
                        new Sampler(samplingOptions, checkpoint.config().vocabSize()),
                        tokenizer,
                        options.withCache(!noCache),
                        guessers.guesser(samplingOptions),
                        receipt == null ? watched : hashes);
                result = run(generation, checkpoint, session);
            }
            if (receipt != null) {
                String hash = checkpoint.hash();
                write(Receipt.of(model, hash, session, samplingOptions, options, result, hashes.hashes()));
            }
            print(GenerationReport.of(model, session, result, opened - started + session.loadNanos()), tokenizer);
            return result.stopReason() == StopReason.CANCELLED ? ExitCode.INTERRUPTED : ExitCode.OK;
        }
    }

    private GenerationResult run(Generation generation, Checkpoint checkpoint, EngineSession session) {
        if (!cacheFile.isGiven()) {
            return new Generator(session.forward()).generate(generation);
        }
        Engine batches = Guessers.batches(session, CacheFile.OPTION);
        CacheFile.Saving kept = cacheFile.load(checkpoint, session, batches, this::say);
        try (Scheduler scheduler = new Scheduler(batches, SchedulerLimits.ofRunning(1))) {
            scheduler.add(generation);
            scheduler.run();
        }
        kept.save();
        return generation.result();
    }

    private void write(Receipt made) {
        try {
            WholeFile.write(receipt, (made.toJson() + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw Failure.of(receipt + " cannot be written: " + IoReason.of(e), e);
        }
    }

    private EngineSession open(Checkpoint checkpoint, EngineOpening opening, EngineSettings settings) {
        try (SlowNotice _ = SlowNotice.after(this::say, () -> Engines.loading(checkpoint, settings))) {
            return opening.open();
        }
    }

    private void requireSensibleCall() {
        if (noCache && cacheFile.isGiven()) {
            throw Failure.usage("--no-cache and " + CacheFile.OPTION + " are given, expected one of them");
        }
        cacheFile.requireWritable();
        WrittenFile.require("--receipt", receipt);
        if (receipt != null) {
            ReplayCommand.requireExact(engine);
        }
        if (promptIds != null) {
            file.requireNoText("PROMPT", prompt);
        }
        if (tokens != null && tokens < 1) {
            throw Failure.usage("--tokens is " + tokens + ", expected 1 or more");
        }
        if (stopTexts.contains("")) {
            throw Failure.usage("--stop is empty, expected a text");
        }
    }

    /** Empty where nothing is given: the model then begins from nothing, or from ids. */
    private Optional<String> text() {
        TextInput texts = new TextInput(console);
        Optional<String> given = texts.given("PROMPT", prompt, file);
        if (given.isPresent() && given.get().isEmpty()) {
            throw Failure.usage("the prompt is empty: give a text, --prompt-ids, or no prompt to begin from nothing");
        }
        return given.isPresent() || promptIds != null ? given : texts.piped().filter(text -> !text.isEmpty());
    }

    /** With ids for a prompt, a tokenizer that is missing or does not work costs the text and nothing else. */
    private Optional<Tokenizer> tokenizer(Path folder) {
        if (promptIds == null) {
            return Optional.of(Tokenizer.load(folder));
        }
        try {
            return Tokenizer.loadIfPresent(folder);
        } catch (CheckpointException e) {
            say("no text: " + e.getMessage());
            return Optional.empty();
        }
    }

    private int[] promptIds(String text, Optional<Tokenizer> tokenizer) {
        if (promptIds != null) {
            return promptIds;
        }
        Tokenizer present = tokenizer.orElseThrow();
        present.roundTripNotice(text).ifPresent(this::say);
        return present.encodePrompt(text);
    }

    /** On a terminal the prompt stands before what is generated; it is no part of the result. */
    private void echo(String text) {
        if (console.terminal() && !quiet && !json) {
            console.err().print(text);
            console.err().flush();
        }
    }

    private Consumer<String> listener(Optional<Tokenizer> tokenizer) {
        return json || tokenizer.isEmpty() ? _ -> {} : console.out()::print;
    }

    private void endText(Optional<Tokenizer> tokenizer) {
        if (!json && tokenizer.isPresent()) {
            console.out().print("\n");
        }
    }

    private void print(GenerationReport report, Optional<Tokenizer> tokenizer) {
        if (json) {
            console.out().println(report.toJson().toString());
        } else if (tokenizer.isEmpty()) {
            console.out().println(joined(report.result().ids()));
        } else {
            endText(tokenizer);
        }
        say(report.summary(tokens == null));
    }

    private static String joined(int[] ids) {
        StringBuilder line = new StringBuilder();
        for (int id : ids) {
            line.append(line.isEmpty() ? "" : ",").append(id);
        }
        return line.toString();
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
