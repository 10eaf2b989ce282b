package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The one place that knows where keys and values are. An array holds the pages of all sequences, and of several layers: keys
 * [layers][pages][kvHeads][headDim][{@value Slices#SIZE}], values [layers][pages][kvHeads][{@value Slices#SIZE}][headDim], so
 * that both passes of attention read what is contiguous. A page holds positions that follow each other and are a slice of every
 * sum over positions. Which pages are a sequence's is in {@link Step}.
 */
final class KvPages {
    private KvPages() {}

    /**
     * The page that holds a position of the sequence that a row is of, counted over all layers of the array.
     *
     * @param pages of a layer
     */
    static int of(IntArray step, IntArray layer, int pages, int row, int position) {
        return layer.get(0) * pages + step.get(step.get(Step.table(row)) + position / Slices.SIZE);
    }

    /** Where element {@code d} of the key of a position is; that of the page's next position follows. */
    static int key(int page, int kvHeads, int kvHead, int headDim, int d, int position) {
        return ((page * kvHeads + kvHead) * headDim + d) * Slices.SIZE + position % Slices.SIZE;
    }

    /** Where the value of a position begins; that of the page's next position follows. */
    static int value(int page, int kvHeads, int kvHead, int headDim, int position) {
        return ((page * kvHeads + kvHead) * Slices.SIZE + position % Slices.SIZE) * headDim;
    }
}
