package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Generator;
import io.github.tornadotransformers.models.generation.TokenIds;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.util.Arrays;

/** What a model knows of a text: the last hidden states, normed, of which the head makes logits. */
public final class HiddenStates {
    private HiddenStates() {}

    /**
     * Their mean over a text's tokens, summed from the first to the last in double and rounded once.
     *
     * @return {@code [hiddenSize]}
     * @throws InvalidRequest if there is no id, one is outside the vocabulary, they do not fit the context, or the engine, on a device,
     *     cannot show them
     */
    public static float[] mean(EngineSession session, int[] ids) {
        ForwardPass forward = session.forward();
        Program program = forward.program();
        if (ids.length < 1 || ids.length > program.contextLength()) {
            throw new InvalidRequest(Wording.of(
                    "the text has %d tokens, expected 1 to %d, the %s",
                    ids.length, program.contextLength(), Term.CONTEXT));
        }
        if (session.engine().onDevice()) {
            throw new InvalidRequest("hidden states are not shown by an engine on a device: use engine host");
        }
        TokenIds.requireInVocabulary("token", ids, program.vocabSize());
        Op norm = program.head().stream()
                .filter(op -> op instanceof Op.RmsNorm || op instanceof Op.LayerNorm)
                .findFirst()
                .orElseThrow();
        double[] sums = new double[norm.output().width()];
        try {
            forward.trace((_, op, _, rows, output) -> {
                if (op.equals(norm)) {
                    add(output, rows, sums);
                }
            });
            for (int from = 0; from < ids.length; from += Generator.DEFAULT_CHUNK) {
                int to = Math.min(from + Generator.DEFAULT_CHUNK, ids.length);
                forward.forwardAll(Arrays.copyOfRange(ids, from, to), from, (_, _, _) -> {});
            }
        } finally {
            forward.trace(TraceListener.NONE);
            forward.forget();
        }
        float[] mean = new float[sums.length];
        for (int i = 0; i < mean.length; i++) {
            mean[i] = (float) (sums[i] / ids.length);
        }
        return mean;
    }

    private static void add(float[] rows, int count, double[] sums) {
        for (int row = 0; row < count; row++) {
            for (int i = 0; i < sums.length; i++) {
                sums[i] += rows[row * sums.length + i];
            }
        }
    }
}
