package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.CheckpointWriter;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Interruption;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.training.InitialWeights;
import io.github.tornadotransformers.training.Trainer;
import io.github.tornadotransformers.training.TrainingFolder;
import io.github.tornadotransformers.training.TrainingLock;
import io.github.tornadotransformers.training.TrainingRun;
import io.github.tornadotransformers.training.TrainingSettings;
import io.github.tornadotransformers.training.TrainingState;
import io.github.tornadotransformers.training.TrainingText;
import io.github.tornadotransformers.training.losses.LossCurve;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Trains a model on a text. */
@Command(
        name = "train",
        customSynopsis = {
            "transformers train CHECKPOINT --data FILE --out DIR [OPTION]...",
            "       transformers train --config FILE --tokenizer DIR --data FILE --out DIR [OPTION]...",
            "       transformers train step|tokenizer ..."
        },
        description = {
            "Train a model on a text: a checkpoint further, or a new model that a config.json describes.",
            "",
            "DIR gets the model in Hugging Face's layout, the curve of its losses, and what --resume needs to go on as"
                    + " if the run had never stopped, bit for bit. Ctrl-C finishes the step and writes all three.",
        },
        sortOptions = false)
final class TrainCommand implements Callable<Integer> {
    /** What a step of a large model may take: Ctrl-C waits for it, so that its work is not lost. */
    private static final Duration STEP_PATIENCE = Duration.ofMinutes(10);

    private final Console console;

    @Parameters(arity = "0..1", paramLabel = "CHECKPOINT", description = "a folder or a name: the model to train on")
    String checkpoint;

    @Option(names = "--config", paramLabel = "FILE", description = "a config.json: train a new model of this shape")
    Path config;

    @Option(
            names = "--tokenizer",
            paramLabel = "DIR",
            description = "a tokenizer's folder (default: the checkpoint's own)")
    Path tokenizer;

    @Option(names = "--data", paramLabel = "FILE", description = "a UTF-8 text; - is standard input, as it is")
    String data;

    @Option(names = "--out", paramLabel = "DIR", description = "where the results go: a new folder")
    Path out;

    @Option(
            names = "--resume",
            description =
                    "go on with the run in DIR, with the same options; more --steps train it longer, at --final-lr")
    boolean resume;

    @Option(names = "--until", paramLabel = "N", description = "stop after step N as Ctrl-C would")
    Integer until;

    @ArgGroup(validate = false, heading = "%nHow the model learns:%n")
    TrainingArguments arguments = new TrainingArguments();

    @ArgGroup(validate = false, heading = "%nWhat computes:%n")
    TrainingEngine engine = new TrainingEngine();

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            description = "of the written weights: f32 (default), bf16, f16; training is in f32")
    StoredType dtype = StoredType.F32;

    @Option(
            names = "--keep",
            paramLabel = "WHICH",
            description = "the model of the best validation loss (best; default) or of the last step (last)")
    Kept keep = Kept.BEST;

    @Option(names = "--json", description = "print one JSON object: steps, losses, folder")
    boolean json;

    @Option(
            names = {"-q", "--quiet"},
            description = "no progress")
    boolean quiet;

    @Mixin
    CommonOptions common;

    /** Which weights a run leaves behind. */
    enum Kept {
        BEST,
        LAST
    }

    TrainCommand(Console console) {
        this.console = console;
    }

    @Spec
    void spec(CommandSpec spec) {
        spec.addSubcommand("step", new CommandLine(new TrainStepCommand(console)));
        spec.addSubcommand("tokenizer", new CommandLine(new TrainTokenizerCommand(console)));
    }

    @Override
    public Integer call() {
        requireSensibleCall();
        String text = new TextInput(console).file(data);
        TrainingFolder folder = new TrainingFolder(out);
        requireFolder(folder);
        Source source = source();
        Tokenizer words = Tokenizer.load(source.tokenizer());
        requireVocabulary(words, source.config());
        if (!resume) {
            return train(source, words, text, folder, Optional.empty());
        }
        try (TrainingLock _ = TrainingLock.hold(out)) {
            return train(source, words, text, folder, Optional.of(folder.state()));
        }
    }

    private int train(
            Source source, Tokenizer words, String text, TrainingFolder folder, Optional<TrainingState> state) {
        ModelConfig model = source.config();
        int trained = model.contextLength();
        TrainingSettings settings =
                state.map(then -> arguments.settings(trained, then)).orElseGet(() -> arguments.settings(trained));
        TrainingText parts = TrainingText.of(text, words, arguments.validation, settings.context());
        state.ifPresent(then -> then.requireSame(settings, parts, TrainingArguments::option));
        Program program = model.program(settings.context());
        engine.requireMemory(program, Trainer.PARAMETER_COPIES);
        try (GradientPass pass = engine.open(
                program, source.weights(program, settings.seed()), quiet ? StatusLine.none() : console.status())) {
            Trainer trainer = new Trainer(pass, parts, settings);
            if (state.isPresent()) {
                state.get().restore(trainer);
                trainer.extendTo(arguments.goal(state.get()));
                return run(trainer, model, parts, folder);
            }
            try (TrainingLock _ = TrainingLock.hold(out)) {
                requireFolder(folder); // another run may have begun there since
                begin(source, words);
                return run(trainer, model, parts, folder);
            }
        }
    }

    private int run(Trainer trainer, ModelConfig model, TrainingText text, TrainingFolder folder) {
        say(model.modelType() + " of " + model.parameters() + " parameters; " + text.trainingTokens()
                + " tokens to learn, " + text.validationTokens() + " to validate; from step " + trainer.steps() + " of "
                + trainer.goal());
        TrainingRun.Saving saving = new TrainingRun.Saving(dtype, arguments.saveEvery, keep == Kept.BEST);
        TrainingRun run = new TrainingRun(trainer, model, folder, saving, this::say);
        int steps = trainer.goal();
        try (Interruption interruption = Interruption.watch(STEP_PATIENCE, () -> tellOfWaiting(trainer, run))) {
            run.run(until == null ? steps : Math.min(until, steps), interruption::requested);
            if (interruption.requested()) {
                say("stopped after step " + trainer.steps() + " of " + steps + "; --resume goes on");
                return ExitCode.INTERRUPTED;
            }
        }
        report(trainer, text);
        return ExitCode.OK;
    }

    private void tellOfWaiting(Trainer trainer, TrainingRun run) {
        int saved = run.savedAt();
        console.err()
                .println("finishing step " + (trainer.steps() + 1)
                        + ", then writing the state; Ctrl-C again ends at once, and "
                        + (saved == 0 ? "nothing is kept" : "what was written after step " + saved + " is kept"));
    }

    private void requireSensibleCall() {
        if (data == null || out == null) {
            throw Failure.usage((data == null ? "--data" : "--out") + " is missing");
        }
        if ((checkpoint == null) == (config == null)) {
            throw Failure.usage("expected one of CHECKPOINT, to train it further, and --config, to train a new model");
        }
        if (config != null && tokenizer == null) {
            throw Failure.usage("--config needs --tokenizer: `transformers train tokenizer` makes one");
        }
        if (until != null && until < 1) {
            throw Failure.usage("--until is " + until + ", expected 1 or more");
        }
        arguments.requireSensible();
        engine.settings();
    }

    /** Where weights, shape and words of a model come from. */
    private record Source(ModelConfig config, Path tokenizer, Checkpoint checkpoint) {
        ParameterArrays weights(Program program, long seed) {
            if (checkpoint == null) {
                return InitialWeights.of(program, seed);
            }
            try (Arena arena = Arena.ofShared()) {
                return ParameterArrays.copyOf(program, checkpoint.load(program, DType.F32, new ArenaAllocator(arena)));
            }
        }
    }

    private Source source() {
        if (config != null) {
            return new Source(Checkpoint.readConfig(config), tokenizer, null);
        }
        Checkpoint opened = Checkpoint.open(new ModelCache(console).checkpoint(checkpoint));
        opened.notices().forEach(this::say);
        return new Source(opened.config(), tokenizer == null ? opened.path() : tokenizer, opened);
    }

    private static void requireVocabulary(Tokenizer words, ModelConfig model) {
        if (words.maxId() >= model.vocabSize()) {
            throw Failure.of("the tokenizer has ids up to " + words.maxId() + ", and the model a vocabulary of "
                    + model.vocabSize() + ": expected vocab_size to be at least " + (words.maxId() + 1));
        }
    }

    private void requireFolder(TrainingFolder folder) {
        if (resume && !folder.holdsRun()) {
            throw Failure.of(out + " has no run to resume: leave out --resume to begin one");
        }
        if (!resume && !folder.isFree()) {
            throw Failure.of(out
                    + (folder.holdsRun()
                            ? " has a run: add --resume to go on with it, or choose another --out"
                            : " is not an empty folder: choose another --out"));
        }
    }

    private void begin(Source source, Tokenizer words) {
        OptionalInt start = words.startToken();
        List<Integer> ends = start.isPresent() ? List.of(start.getAsInt()) : List.of();
        if (source.checkpoint() != null) {
            start = source.checkpoint().bosToken();
            ends = source.checkpoint().endTokens();
        }
        try {
            Files.createDirectories(out);
            CheckpointWriter.writeConfig(out, source.config(), dtype, start, ends);
            Tokenizer.copyFiles(source.tokenizer(), out);
        } catch (IOException e) {
            throw Failure.of("the results cannot be written to " + out + ": " + IoReason.of(e), e);
        }
    }

    private void report(Trainer trainer, TrainingText text) {
        LossHistory history = trainer.history();
        LossHistory.Validation best = history.best();
        say(LossCurve.text(history).stripTrailing());
        if (json) {
            console.out().println(TrainingReport.json(trainer, text, out).toString());
        } else if (best == null) {
            console.out().println(out + ": " + trainer.steps() + " steps");
        } else {
            console.out()
                    .println(String.format(
                            Locale.ROOT,
                            "%s: %d steps, best validation loss %.4f after step %d (%.4f nats a byte)",
                            out,
                            trainer.steps(),
                            best.loss(),
                            best.step(),
                            text.perByte(best.loss())));
        }
    }

    private void say(String line) {
        if (!quiet) {
            console.err().println(line);
        }
    }
}
