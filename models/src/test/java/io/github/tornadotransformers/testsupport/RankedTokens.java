package io.github.tornadotransformers.testsupport;

import io.github.tornadotransformers.models.generation.Candidates;
import java.util.Comparator;
import java.util.stream.IntStream;

/** The largest logits, by sorting all of them. */
public final class RankedTokens {
    private RankedTokens() {}

    /** Of {@code logits[offset .. offset + vocabSize)}. */
    public static Candidates of(float[] logits, int offset, int vocabSize, int count) {
        int[] ids = IntStream.range(0, vocabSize)
                .boxed()
                // Zeros of both signs are equal; the sort is stable.
                .sorted(Comparator.comparingDouble((Integer id) -> 0f - logits[offset + id]))
                .mapToInt(id -> id)
                .limit(count)
                .toArray();
        float[] largest = new float[count];
        for (int rank = 0; rank < count; rank++) {
            largest[rank] = logits[offset + ids[rank]];
        }
        return new Candidates(ids, largest);
    }
}
