package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.Locale;

/**
 * What a benchmark times, and where; as a parameter {@code gpt2-124M/qkvProj/decode/bf16/host/2}.
 *
 * @param op its name, or {@link #WHOLE_MODEL}
 * @param dtype of matrices
 * @param threads of the engine; 0 on a device
 */
record Case(String model, String op, Pass pass, DType dtype, BenchmarkEngine engine, int threads) {
    static final String WHOLE_MODEL = "model";

    private static final String SEPARATOR = "/";
    private static final int PARTS = 6;

    /** How rows run. */
    enum Pass {
        /** A token behind many others. */
        DECODE(BenchTest.Phase.DECODE),

        /** A chunk of a prompt. */
        PREFILL(BenchTest.Phase.PREFILL),

        /** The gradients of a sequence, whose rows run together as a prompt's do. */
        BACKWARD(BenchTest.Phase.PREFILL);

        private final BenchTest.Phase phase;

        Pass(BenchTest.Phase phase) {
            this.phase = phase;
        }

        BenchTest.Phase phase() {
            return phase;
        }
    }

    /** @throws InvalidRequest if the text is none that {@link #toString} gives */
    static Case parse(String text) {
        String[] parts = text.split(SEPARATOR, -1);
        if (parts.length != PARTS) {
            throw new InvalidRequest("'" + text + "' is no case, expected model/op/pass/dtype/engine/threads");
        }
        return new Case(
                parts[0],
                parts[1],
                Pass.valueOf(parts[2].toUpperCase(Locale.ROOT)),
                DType.valueOf(parts[3].toUpperCase(Locale.ROOT)),
                BenchmarkEngine.valueOf(parts[4].toUpperCase(Locale.ROOT)),
                Integer.parseInt(parts[5]));
    }

    @Override
    public String toString() {
        return String.join(
                SEPARATOR, model, op, lower(pass), lower(dtype), engine.toString(), Integer.toString(threads));
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
