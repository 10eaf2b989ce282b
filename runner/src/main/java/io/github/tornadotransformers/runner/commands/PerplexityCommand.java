package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.generation.Perplexity;
import io.github.tornadotransformers.models.generation.PerplexityWindows;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Progress;
import io.github.tornadotransformers.runner.console.SlowNotice;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says how well a model predicts a text. */
@Command(
        name = "perplexity",
        customSynopsis = "transformers perplexity [FILE|-] [OPTION]...",
        description = {
            "Say how well a model predicts a text.",
            "",
            "The result is the mean negative log-likelihood of a token, in nats, and its exponential. A text longer than"
                    + " the context is run in windows that overlap by half."
        },
        sortOptions = false)
final class PerplexityCommand implements Callable<Integer> {
    private static final int ROWS = 128;

    private final Console console;

    @Parameters(arity = "0..1", paramLabel = "FILE", description = "a UTF-8 text; - or none: standard input, as it is")
    String text;

    @Mixin
    TextFile file;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description =
                    "a checkpoint's folder, a name that `transformers models` lists, or OWNER/NAME[@REVISION] of the"
                            + " Hugging Face hub (default: ${DEFAULT-VALUE})")
    String model = ShippedModels.LLAMA;

    @Option(names = "--json", description = "print one JSON object: tokens, mean_nll, perplexity")
    boolean json;

    @Option(
            names = {"-q", "--quiet"},
            description = "print the result only")
    boolean quiet;

    @ArgGroup(validate = false, heading = "%nHow the model runs:%n")
    EngineOptions engine = new EngineOptions();

    @Mixin
    CommonOptions common;

    PerplexityCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        EngineSettings given =
                engine.settings(console, console.err()::println).withCompileListener(new CompileStatus(status()));
        String read = read();
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(model));
        EngineSettings settings = given.withSequences(together(given, checkpoint));
        Tokenizer tokenizer = Tokenizer.load(checkpoint.path());
        int[] ids = tokenizer.encodePrompt(read);
        if (!quiet) {
            checkpoint.notices().forEach(console.err()::println);
            tokenizer.roundTripNotice(read).ifPresent(console.err()::println);
        }
        try (EngineSession session = open(checkpoint, settings)) {
            Perplexity found;
            if (!quiet) {
                console.err()
                        .println(model + ": " + ids.length + " tokens on engine " + session.engine() + " ("
                                + session.device() + ")");
            }
            try (Progress progress = Progress.of(status(), "measuring", Progress.Unit.TOKENS, ids.length - 1L)) {
                found = measured(session, ids, progress);
            }
            print(found);
        }
        return ExitCode.OK;
    }

    /** Windows that are shorter than what an engine runs well in one go run together. */
    private static int together(EngineSettings settings, Checkpoint checkpoint) {
        int context = settings.context().orElse(checkpoint.config().contextLength());
        return Math.clamp(ROWS / Math.max(1, context), 1, ROWS);
    }

    private static Perplexity measured(EngineSession session, int[] ids, Progress progress) {
        if (session.batches().isEmpty()) {
            return Perplexity.of(session.forward(), ids, progress::update);
        }
        Program program = session.forward().program();
        int window = program.contextLength();
        PerplexityWindows windows =
                new PerplexityWindows(ids, program.vocabSize(), window, Math.max(1, window / 2), progress::update);
        try (Scheduler scheduler = new Scheduler(session.batches().get(), SchedulerLimits.ofRunning(ROWS))) {
            windows.sequences().forEach(scheduler::add);
            scheduler.run();
        }
        return windows.result();
    }

    private EngineSession open(Checkpoint checkpoint, EngineSettings settings) {
        if (quiet) {
            return Engines.open(checkpoint, settings);
        }
        try (SlowNotice _ = SlowNotice.after(console.err()::println, () -> Engines.loading(checkpoint, settings))) {
            return Engines.open(checkpoint, settings);
        }
    }

    private StatusLine status() {
        return quiet ? StatusLine.none() : console.status();
    }

    private String read() {
        if (text != null && file.path != null) {
            throw Failure.usage("FILE and " + TextFile.OPTION + " are given, expected one of them");
        }
        String name = text == null ? file.path : text;
        return new TextInput(console).file(name == null ? TextInput.STANDARD_INPUT : name);
    }

    private void print(Perplexity found) {
        if (json) {
            console.out()
                    .println(Json.object()
                            .put("tokens", found.tokens())
                            .put("mean_nll", found.meanNll())
                            .put(
                                    "perplexity",
                                    Double.isFinite(found.perplexity()) ? Double.valueOf(found.perplexity()) : null)
                            .toString());
        } else {
            console.out()
                    .println(String.format(
                            Locale.ROOT,
                            "%d tokens, mean negative log-likelihood %.4f, perplexity %.4f",
                            found.tokens(),
                            found.meanNll(),
                            found.perplexity()));
        }
    }
}
