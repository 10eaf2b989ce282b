package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.runner.console.ClosedPipeException;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.MemoryAdvice;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** All commands, how one is called, and how its errors become one line and an exit code. */
public final class Commands {
    private static final int HELP_COLUMNS = 80;
    private static final String LIST_COMMA = ",";
    private static final String JMH = "jmh";
    private static final SequencedMap<String, Function<Console, Callable<Integer>>> ALL = all();

    private final Console console;

    public Commands(Console console) {
        this.console = console;
    }

    static boolean has(String command) {
        return ALL.containsKey(command);
    }

    /** In the order of the help. A new command is a line here. */
    private static SequencedMap<String, Function<Console, Callable<Integer>>> all() {
        SequencedMap<String, Function<Console, Callable<Integer>>> all = new LinkedHashMap<>();
        all.put("generate", GenerateCommand::new);
        all.put("gpt2", Gpt2Command::new);
        all.put("llama", LlamaCommand::new);
        all.put("chat", ChatCommand::new);
        all.put("serve", ServeCommand::new);
        all.put("batch", BatchCommand::new);
        all.put("replay", ReplayCommand::new);
        all.put("tokenize", TokenizeCommand::new);
        all.put("perplexity", PerplexityCommand::new);
        all.put("verify", VerifyCommand::new);
        all.put("export", ExportCommand::new);
        all.put("train", TrainCommand::new);
        all.put("bench", BenchCommand::new);
        all.put(JMH, JmhCommand::new);
        all.put("models", ModelsCommand::new);
        all.put("devices", DevicesCommand::new);
        all.put("completion", CompletionCommand::new);
        all.put("man", ManCommand::new);
        all.put("test", _ -> new TestCommand());
        all.put("warm-up", WarmUpCommand::new);
        return all;
    }

    /** The command line with the commands of these names. */
    static CommandLine described(Console console, Predicate<String> wanted) {
        CommandLine line = new CommandLine(new Root());
        ALL.forEach((name, command) -> {
            if (wanted.test(name)) {
                line.addSubcommand(command.apply(console));
            }
        });
        return line;
    }

    /** @return the process's exit code */
    public int run(String... arguments) {
        // The description of one command is enough to run it, and takes the time of one.
        boolean known = arguments.length > 0 && has(arguments[0]);
        CommandLine line = described(console, each -> !known || each.equals(arguments[0]));
        Optional.ofNullable(line.getSubcommands().get(JMH))
                .ifPresent(jmh -> jmh.setUnmatchedOptionsArePositionalParams(true));
        StringWriter help = new StringWriter();
        line.setOut(new PrintWriter(help))
                .setUsageHelpWidth(HELP_COLUMNS)
                .registerConverter(EngineKind.class, new EnumConverter<>(EngineKind.class))
                .registerConverter(DType.class, new EnumConverter<>(DType.class))
                .registerConverter(KvType.class, new EnumConverter<>(KvType.class))
                .registerConverter(StoredType.class, new EnumConverter<>(StoredType.class))
                .registerConverter(TrainCommand.Kept.class, new EnumConverter<>(TrainCommand.Kept.class))
                .registerConverter(ExportCommand.Type.class, new EnumConverter<>(ExportCommand.Type.class))
                .registerConverter(MathMode.class, new EnumConverter<>(MathMode.class))
                .registerConverter(GraphMode.class, new EnumConverter<>(GraphMode.class))
                .registerConverter(BenchCommand.Format.class, new EnumConverter<>(BenchCommand.Format.class))
                .setExecutionStrategy(this::runLogged)
                .setParameterExceptionHandler(this::reportWrongCall)
                .setExecutionExceptionHandler(this::reportFailure);
        try {
            int code = arguments.length == 0 ? showHelp(line) : line.execute(arguments);
            console.err().log("exit code " + code);
            if (!help.getBuffer().isEmpty()) {
                console.out().print(help.toString());
            }
            return code;
        } catch (ClosedPipeException e) {
            return ExitCode.CLOSED_PIPE;
        } catch (Failure e) {
            return failed(line, e.getMessage(), e.exitCode());
        } catch (OutOfMemoryError e) {
            CommandSpec called = innermost(line.getParseResult()).commandSpec();
            long heap = Runtime.getRuntime().maxMemory();
            String advice = MemoryAdvice.of(e, heap, option -> called.findOption(option) != null);
            return failed(called.commandLine(), advice, ExitCode.FAILURE);
        }
    }

    private int runLogged(ParseResult parsed) {
        CommandSpec called = innermost(parsed).commandSpec();
        Path log = innermost(parsed).matchedOptionValue(CommonOptions.LOG, null);
        if (log != null) {
            try {
                WrittenFile.require(CommonOptions.LOG, log);
                console.err().log(log);
            } catch (Failure e) {
                return failed(called.commandLine(), e.getMessage(), e.exitCode());
            } catch (IOException e) {
                String reason = CommonOptions.LOG + " is " + log + ", which cannot be written: " + IoReason.of(e);
                return failed(called.commandLine(), reason, ExitCode.FAILURE);
            }
            console.err().log(called.qualifiedName() + ", " + String.join(", ", new Version().getVersion()));
        }
        return runOnce(parsed);
    }

    /** Runs a command whose options say one thing each, where the parser would take the last or less, silently. */
    private static int runOnce(ParseResult parsed) {
        ParseResult innermost = innermost(parsed);
        CommandLine line = innermost.commandSpec().commandLine();
        for (OptionSpec option : innermost.commandSpec().options()) {
            requireOnce(option, line);
            requireWholeList(option, line);
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    /** Options in groups may be given twice as far as the parser is concerned. */
    private static void requireOnce(OptionSpec option, CommandLine line) {
        List<String> given = option.originalStringValues();
        if (!option.isMultiValue() && given.size() > 1) {
            throw new ParameterException(
                    line,
                    option.longestName() + " is given more than once (" + String.join(", ", given)
                            + "), expected one value");
        }
    }

    /** The parser leaves out what would stand behind a list's last commas. */
    private static void requireWholeList(OptionSpec option, CommandLine line) {
        for (String list : option.originalStringValues()) {
            if (!option.splitRegex().isEmpty() && list.endsWith(LIST_COMMA)) {
                throw new ParameterException(
                        line, option.longestName() + " is '" + list + "', expected a value behind each comma");
            }
        }
    }

    private int showHelp(CommandLine line) {
        console.err().print(line.getUsageMessage());
        return ExitCode.USAGE;
    }

    private int reportWrongCall(ParameterException e, String[] arguments) {
        return wrongCall(e.getCommandLine(), new WrongCall(e, arguments).message());
    }

    private int wrongCall(CommandLine line, String message) {
        String oneLine = message.strip().replaceAll("\\s*\\R\\s*", "; ");
        console.err().println(line.getCommandSpec().qualifiedName() + ": " + oneLine + "; see --help");
        return ExitCode.USAGE;
    }

    private int reportFailure(Exception e, CommandLine line, ParseResult parsed) {
        if (wantsStackTrace(parsed)) {
            e.printStackTrace(console.err());
        }
        return switch (e) {
            case ClosedPipeException _ -> ExitCode.CLOSED_PIPE;
            case Failure failure when failure.exitCode() == ExitCode.USAGE -> wrongCall(line, e.getMessage());
            case InvalidPathException path ->
                failed(
                        line,
                        Quoted.text(path.getInput()) + " cannot be the name of a file here: " + path.getReason(),
                        ExitCode.FAILURE);
            case Failure failure -> failed(line, e.getMessage(), failure.exitCode());
            case InvalidRequest request -> wrongCall(line, message(request, line));
            case TransformersException known -> failed(line, message(known, line), ExitCode.of(known));
            default -> failed(line, "internal error, please report it with --stacktrace: " + e, ExitCode.FAILURE);
        };
    }

    /** JMH's parameters have the names that the library has. */
    private static String message(TransformersException e, CommandLine line) {
        return line.getCommandName().equals(JMH) ? e.getMessage() : OptionNames.message(e);
    }

    private int failed(CommandLine line, String message, int exitCode) {
        console.err().println(line.getCommandSpec().qualifiedName() + ": " + message);
        return exitCode;
    }

    private static boolean wantsStackTrace(ParseResult parsed) {
        return innermost(parsed).hasMatchedOption(CommonOptions.STACKTRACE);
    }

    private static ParseResult innermost(ParseResult parsed) {
        ParseResult innermost = parsed;
        while (innermost.hasSubcommand()) {
            innermost = innermost.subcommand();
        }
        return innermost;
    }

    /** {@code transformers} itself. */
    @Command(
            name = "transformers",
            description = {
                "Language models as Java kernels on TornadoVM, checked bit for bit against a plain Java reference."
            },
            synopsisSubcommandLabel = "COMMAND",
            commandListHeading = "%nCommands, each with its own --help:%n",
            footer = {
                "",
                "Exit codes: 0 done, 1 failed, 2 wrong call, 3 an engine could not run,",
                "130 Ctrl-C, 141 nobody reads the result."
            },
            versionProvider = Version.class,
            sortOptions = false)
    static final class Root implements Callable<Integer> {
        @Option(
                names = {"-V", "--version"},
                versionHelp = true,
                description = "show the version")
        boolean version;

        @Mixin
        CommonOptions common;

        @Override
        public Integer call() {
            throw Failure.usage("a command is missing");
        }
    }
}
