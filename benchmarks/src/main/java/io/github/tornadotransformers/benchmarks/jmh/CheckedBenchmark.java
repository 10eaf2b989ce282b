package io.github.tornadotransformers.benchmarks.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What all benchmarks here share: one JVM for each case, and no timing of what is wrong. An engine writes its results to
 * arrays that the check has read, so that no compiler can leave work out.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--sun-misc-unsafe-memory-access=allow"})
public abstract class CheckedBenchmark {
    private Subject subject;

    /** Makes inputs and weights ready. */
    abstract Subject open();

    /** Opens the subject and checks it. */
    @Setup
    public void prepare() {
        subject = open();
        try {
            subject.requireRight();
        } catch (RuntimeException wrong) {
            subject.close();
            throw wrong;
        }
    }

    final void runSubject() {
        subject.run();
    }

    @TearDown
    public void close() {
        subject.close();
    }
}
