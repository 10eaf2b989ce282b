package io.github.tornadotransformers.models.generation;

/** Finds the largest logits in one pass, without sorting the rest: larger first, and the lower id first where they are equal. */
final class RankedLogits {
    /** A heap of ids, the last in rank on top; then the result, ranked. */
    private final int[] ids;

    RankedLogits(int vocabSize) {
        ids = new int[vocabSize];
    }

    /** The id at a rank of the last {@link #select}, 0 being the first. */
    int id(int rank) {
        return ids[rank];
    }

    /** Ranks the first {@code count} ids, at most the vocabulary. */
    void select(float[] logits, int count) {
        for (int id = 0; id < count; id++) {
            ids[id] = id;
        }
        for (int parent = count / 2 - 1; parent >= 0; parent--) {
            sink(logits, parent, count);
        }
        for (int id = count; id < ids.length; id++) {
            if (logits[id] > logits[ids[0]]) {
                ids[0] = id;
                sink(logits, 0, count);
            }
        }
        for (int last = count - 1; last > 0; last--) {
            int worst = ids[0];
            ids[0] = ids[last];
            ids[last] = worst;
            sink(logits, 0, last);
        }
    }

    private void sink(float[] logits, int from, int count) {
        int moved = ids[from];
        int parent = from;
        for (int child = 2 * parent + 1; child < count; child = 2 * parent + 1) {
            if (child + 1 < count && ranksBehind(logits, ids[child + 1], ids[child])) {
                child++;
            }
            if (!ranksBehind(logits, ids[child], moved)) {
                break;
            }
            ids[parent] = ids[child];
            parent = child;
        }
        ids[parent] = moved;
    }

    private static boolean ranksBehind(float[] logits, int a, int b) {
        return logits[a] < logits[b] || (logits[a] == logits[b] && a > b);
    }
}
