package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.OpCase;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/**
 * An Op of a model: one row at a late position, or a chunk of a prompt. Each run takes the weights and the cache of another
 * layer, as {@link OpCase} says, so that a matrix comes from memory where the model's does.
 */
public class OpBenchmark extends CheckedBenchmark {
    @Param("stories15M/qkvProj/decode/f32/host/1")
    public String opCase;

    @Override
    Subject open() {
        Case of = Case.parse(opCase);
        return of.engine().onDevice() ? DeviceRun.open(of) : OpRun.open(of);
    }

    @Benchmark
    public void op() {
        runSubject();
    }
}
