package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.Wording;

/** What cannot be timed, because it is wrong, or not compared, because it is no result. */
public final class BenchmarkException extends TransformersException {
    public BenchmarkException(String message) {
        super(message);
    }

    public BenchmarkException(String message, Throwable cause) {
        super(message, cause);
    }

    BenchmarkException(Wording wording, Throwable cause) {
        super(wording, cause);
    }
}
