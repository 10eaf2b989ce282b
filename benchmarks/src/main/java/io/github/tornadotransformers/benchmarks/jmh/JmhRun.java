package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchmarkException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.TransformersException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** JMH's command line over the cases of a {@link Selection}: JMH's report goes to stderr, the table to stdout. */
public final class JmhRun {
    /** What narrows the cases down, a line each. */
    public static final String PARAMETERS = """
            OpBenchmark, GradientBenchmark, ModelBenchmark   run one kind
            -p model=gpt2-124M       -p op=qkvProj,lmHead
            -p pass=decode,prefill,backward
            -p dtype=f32,bf16,f16,int8
            -p engine=scalar,host,kernels,tornado
            -p threads=1,2           narrow what is run
            -l                       lists the cases
            -h                       lists JMH's own options
            """;

    private static final String PARAMETER = "-p";

    private final Consumer<String> out;
    private final PrintStream err;
    private final boolean withLimits;

    /**
     * @param out takes what was asked for
     * @param err gets JMH's report
     * @param withLimits whether to measure what the machine can do beside each iteration
     */
    public JmhRun(Consumer<String> out, PrintStream err, boolean withLimits) {
        this.out = out;
        this.err = err;
        this.withLimits = withLimits;
    }

    /**
     * @param arguments JMH's
     * @throws InvalidRequest if JMH does not know an argument, or there is no such case
     * @throws TransformersException if a case cannot run, or is wrong
     */
    public void run(String... arguments) {
        try {
            CommandLineOptions given = new CommandLineOptions(arguments);
            if (given.shouldHelp()) {
                help(given);
                return;
            }
            requireKnownNames(arguments);
            Selection selection = new Selection(wanted(given));
            List<Case> cases = selection.all();
            if (given.shouldList()) {
                cases.forEach(each -> out.accept(each + "\n"));
            } else {
                out.accept(Results.table(run(given, selection)));
            }
        } catch (CommandLineOptionException wrong) {
            throw new InvalidRequest(wrong.getMessage());
        } catch (RunnerException | IOException failed) {
            Throwable root = root(failed);
            throw root instanceof TransformersException known
                    ? known
                    : new BenchmarkException(root.getMessage(), failed);
        }
    }

    /** What was thrown first: JMH wraps what a benchmark throws, and keeps it as a suppressed exception. */
    private static Throwable root(Throwable thrown) {
        Throwable inner = thrown.getSuppressed().length > 0 ? thrown.getSuppressed()[0] : thrown.getCause();
        return inner == null ? thrown : root(inner);
    }

    private void help(CommandLineOptions given) throws IOException {
        out.accept(
                "Times Ops, gradients and whole models with JMH, each checked against the scalar definition first.\n\n"
                        + PARAMETERS
                        + "\nJMH's own options (its parameters, modes, time units and threads are set here):\n\n");
        given.showHelp();
    }

    private static void requireKnownNames(String... arguments) {
        for (int i = 0; i + 1 < arguments.length; i++) {
            String name = arguments[i + 1].replaceFirst("=.*", "");
            if (arguments[i].equals(PARAMETER) && !Selection.NAMES.contains(name)) {
                throw new InvalidRequest(
                        "there is no parameter '" + name + "', expected one of " + String.join(", ", Selection.NAMES));
            }
        }
    }

    private static Map<String, Collection<String>> wanted(CommandLineOptions given) {
        Map<String, Collection<String>> wanted = new LinkedHashMap<>();
        for (String name : Selection.NAMES) {
            if (given.getParameter(name).hasValue()) {
                wanted.put(name, given.getParameter(name).get());
            }
        }
        return wanted;
    }

    private Collection<RunResult> run(CommandLineOptions given, Selection selection) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .parent(given)
                .mode(Mode.AverageTime)
                .timeUnit(TimeUnit.MICROSECONDS)
                .threads(1)
                .shouldFailOnError(given.shouldFailOnError().orElse(true));
        if (withLimits) {
            options.addProfiler(RooflineProfiler.class);
        }
        given.getExcludes().forEach(options::exclude);
        add(options, OpBenchmark.class, "opCase", selection.ops());
        add(options, GradientBenchmark.class, "gradientCase", selection.gradients());
        add(options, ModelBenchmark.class, "modelCase", selection.wholeModels());
        Options all = options.build();
        OutputFormat report =
                OutputFormatFactory.createFormatInstance(err, given.verbosity().orElse(VerboseMode.NORMAL));
        return new Runner(all, report).run();
    }

    private static void add(
            ChainedOptionsBuilder options,
            Class<? extends CheckedBenchmark> benchmark,
            String field,
            List<Case> cases) {
        if (cases.isEmpty()) {
            options.exclude(Pattern.quote(benchmark.getName()));
        } else {
            options.param(field, cases.stream().map(Case::toString).toArray(String[]::new));
        }
    }
}
