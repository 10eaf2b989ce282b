package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Failure;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Named here for the help; the launcher runs it, because it is a program of its own, built when it is first wanted. */
@Command(
        name = "jmh",
        customSynopsis = "transformers jmh [BENCHMARK] [-p NAME=VALUE,...]... [ARGUMENT]...",
        description = {
            "Time Ops, gradients and whole models with JMH, each checked against the scalar definition first:"
                    + " docs/BENCHMARKS.md.",
            "",
            JmhCommand.PARAMETERS
        },
        sortOptions = false)
public final class JmhCommand implements Callable<Integer> {
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

    @Parameters(paramLabel = "ARGUMENT", description = "arguments of JMH")
    List<String> arguments = List.of();

    @Mixin
    CommonOptions common;

    @Override
    public Integer call() {
        throw Failure.usage("the benchmarks are run by the launcher: ./transformers jmh");
    }
}
