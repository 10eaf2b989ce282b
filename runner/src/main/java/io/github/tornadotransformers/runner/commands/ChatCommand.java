package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineOpening;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.engine.LanguageModel;
import io.github.tornadotransformers.engine.ModelFolder;
import io.github.tornadotransformers.models.CacheFolder;
import io.github.tornadotransformers.models.chat.ChatTemplate;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.runner.chat.ChatLines;
import io.github.tornadotransformers.runner.chat.ChatLoop;
import io.github.tornadotransformers.runner.chat.ChatSettings;
import io.github.tornadotransformers.runner.chat.PipedLines;
import io.github.tornadotransformers.runner.chat.TerminalLines;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.SlowNotice;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A conversation with a model. */
@Command(
        name = "chat",
        customSynopsis = "transformers chat [OPTION]...",
        description = {
            "Talk with a model.",
            "",
            "A line is a question, and /help lists the commands. Ctrl-C stops an answer, Ctrl-D ends. Lines that are piped in"
                    + " are answered one after the other."
        },
        sortOptions = false)
final class ChatCommand implements Callable<Integer> {
    private static final String HISTORY = "chat-history";
    private static final String NO_COLOR = "NO_COLOR";

    private final Console console;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description =
                    "a checkpoint's folder, or a name that `transformers models` lists, with a chat template (default:"
                            + " ${DEFAULT-VALUE})")
    String model = ShippedModels.LLAMA;

    @Option(names = "--system", paramLabel = "TEXT", description = "the system's message")
    String system;

    @Option(names = "--load", paramLabel = "FILE", description = "go on with a conversation that /save has written")
    Path load;

    @Option(
            names = {"-n", "--tokens"},
            paramLabel = "N",
            description = "of an answer at most (default: as many as the context has room for)")
    Integer tokens;

    @Mixin
    ChatArguments chat;

    @ArgGroup(validate = false, heading = "%nHow a token is chosen:%n")
    SamplingArguments sampling = new SamplingArguments();

    @ArgGroup(validate = false, heading = "%nHow the model runs:%n")
    EngineOptions engine = new EngineOptions();

    @Mixin
    CommonOptions common;

    ChatCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        SamplingOptions chosen = sampling.options();
        EngineSettings settings = engine.settings().withCompileListener(new CompileStatus(console.status()));
        if (tokens != null && tokens < 1) {
            throw Failure.usage("--tokens is " + tokens + ", expected 1 or more");
        }
        Optional<ChatTemplate> given = chat.template();
        ModelFolder folder = ModelFolder.open(new ModelCache(console).checkpoint(model));
        try (EngineOpening opening = EngineOpening.of(folder.checkpoint(), settings)) {
            return chat(folder, opening, settings, given.orElseGet(folder::chatTemplate), chosen);
        }
    }

    private int chat(
            ModelFolder folder,
            EngineOpening opening,
            EngineSettings settings,
            ChatTemplate template,
            SamplingOptions chosen) {
        folder.notices().forEach(console.err()::println);
        folder.tokenizer();
        ChatSettings how = new ChatSettings(
                template, chat.options(), chosen, tokens == null ? OptionalInt.empty() : OptionalInt.of(tokens));
        try (LanguageModel loaded = load(folder, opening, settings);
                ChatLines lines = lines()) {
            ChatLoop loop = new ChatLoop(loaded, how, lines, console);
            begin(loop);
            console.err()
                    .println(model + ": " + loaded.folder().config().modelType() + ", "
                            + EnumConverter.spelled(loaded.dtype()) + ", on engine " + loaded.engine() + " ("
                            + loaded.device() + "), " + loaded.contextLength() + " positions; /help lists commands");
            return loop.run() ? ExitCode.OK : ExitCode.INTERRUPTED;
        }
    }

    private void begin(ChatLoop loop) {
        if (load != null) {
            loop.conversation().load(load);
        }
        if (system != null) {
            loop.conversation().setSystem(system);
        }
    }

    private LanguageModel load(ModelFolder folder, EngineOpening opening, EngineSettings settings) {
        try (SlowNotice _ =
                SlowNotice.after(console.err()::println, () -> Engines.loading(folder.checkpoint(), settings))) {
            return folder.load(opening);
        }
    }

    private boolean coloured() {
        return console.terminal() && console.variable(NO_COLOR).isEmpty();
    }

    private ChatLines lines() {
        if (console.in().brings() || !console.terminal()) {
            return new PipedLines(console.in().stream());
        }
        Path cache = CacheFolder.path(console.environment());
        return new TerminalLines(Optional.of(cache.resolve(HISTORY)), ChatLoop.commands(), coloured());
    }
}
