package io.github.tornadotransformers.benchmarks.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The gradient of an Op over a sequence. Most add to what an array holds, and may do so again and again; those that work in
 * place get their input back before each run, outside of what is timed: else they would end at zero or among subnormal
 * numbers, which are slow.
 */
public class GradientBenchmark extends CheckedBenchmark {
    @Param("stories15M/swiGlu/backward/f32/host/1")
    public String gradientCase;

    private GradientRun run;

    @Override
    Subject open() {
        run = GradientRun.open(Case.parse(gradientCase));
        return run;
    }

    @Setup(Level.Invocation)
    public void restore() {
        run.restore();
    }

    @Benchmark
    public void gradient() {
        runSubject();
    }
}
