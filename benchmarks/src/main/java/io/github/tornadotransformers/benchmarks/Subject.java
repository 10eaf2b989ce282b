package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.runner.console.Failure;

/** What a benchmark times, on an engine, with its inputs. */
interface Subject extends AutoCloseable {
    /** @throws Failure if the engine's result is not the definition's, to the bit */
    void requireRight();

    void run();

    @Override
    void close();
}
