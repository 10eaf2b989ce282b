package io.github.tornadotransformers.benchmarks.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** A whole model of random weights: one token behind 128 others, or a prompt of 128. */
public class ModelBenchmark extends CheckedBenchmark {
    @Param("stories15M/model/decode/f32/host/1")
    public String modelCase;

    @Override
    Subject open() {
        return ModelRun.open(Case.parse(modelCase));
    }

    @Benchmark
    public void model() {
        runSubject();
    }
}
