package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchmarkException;

/** What a benchmark times, on an engine, with its inputs. */
interface Subject extends AutoCloseable {
    /** @throws BenchmarkException if the engine's result is not the definition's, to the bit */
    void requireRight();

    void run();

    @Override
    void close();
}
