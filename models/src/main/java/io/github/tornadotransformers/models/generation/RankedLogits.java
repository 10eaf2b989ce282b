package io.github.tornadotransformers.models.generation;

import java.util.Arrays;

/** Finds the largest logits without sorting the rest: larger first, and the lower id first where they are equal. */
final class RankedLogits {
    /** A heap of ids, the last in rank on top; then the result, ranked. */
    private final int[] ids;
    /** Of one id each, rising with its rank. */
    private final long[] keys;

    RankedLogits(int vocabSize) {
        ids = new int[vocabSize];
        keys = new long[vocabSize];
    }

    /** The id at a rank in the last selection, 0 being the first. */
    int id(int rank) {
        return ids[rank];
    }

    /** Ranks the largest {@code count} logits, at most the vocabulary; made for few. */
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

    /** Takes a selection that was made elsewhere. */
    void take(int[] selected) {
        System.arraycopy(selected, 0, ids, 0, selected.length);
    }

    /** Ranks the logits whose weight is at least {@code limit}; how many there are. Weights rise with logits. */
    int selectByWeight(float[] logits, double[] weights, double limit) {
        int count = 0;
        for (int id = 0; id < ids.length; id++) {
            if (weights[id] >= limit) {
                keys[count++] = key(logits[id], id);
            }
        }
        Arrays.sort(keys, 0, count);
        for (int rank = 0; rank < count; rank++) {
            ids[rank] = (int) keys[rank];
        }
        return count;
    }

    /** Above, the bits of the logit as a number that falls where the logit rises (zeros of both signs alike); below, the id. */
    private static long key(float logit, int id) {
        int bits = Float.floatToIntBits(logit + 0f);
        int rising = bits < 0 ? bits ^ Integer.MAX_VALUE : bits;
        return ((long) ~rising << 32) | id;
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
