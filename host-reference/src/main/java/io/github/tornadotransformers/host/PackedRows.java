package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.Arrays;

/**
 * Rows of activations as {@link Tiles} read them: slice after slice, in a slice tile after tile, and of a tile the elements of all
 * its rows side by side. Read row by row they would be a power of two apart, and drive each other out of the first-level cache.
 */
final class PackedRows {
    private float[] elements = {};
    private int rows;
    private int padded;
    private int depth;
    private float[] blockSums = {};

    /**
     * Packs {@code x[offset + r * depth + k]}.
     *
     * @param regions runs a slice each
     */
    void pack(float[] x, int offset, int rows, int depth, Regions regions) {
        this.rows = rows;
        this.depth = depth;
        padded = 0;
        while (padded < rows) {
            padded += height(padded);
        }
        if (elements.length < padded * depth) {
            elements = new float[padded * depth];
        }
        regions.run(Math.ceilDiv(depth, HostOps.SLICE), rows * depth, (worker, slice) -> packSlice(x, offset, slice));
    }

    /** Runs parts that have so many elements together. */
    @FunctionalInterface
    interface Regions {
        void run(int parts, int elements, ThreadTeam.Part part);
    }

    float[] elements() {
        return elements;
    }

    int rows() {
        return rows;
    }

    int depth() {
        return depth;
    }

    /** Rows of the tile that begins with a row. */
    int height(int row) {
        return Tiles.height(rows - row, rows);
    }

    /** Where one of {@code blocks} blocks of rows begins, each of some tiles, and the one before ends. */
    int blockStart(int block, int blocks) {
        return block == blocks ? rows : block * rows / blocks / height(0) * height(0);
    }

    /** Where the tile of a row begins: a slice that starts at {@code start} has {@code size} elements of each row. */
    int at(int start, int size, int row) {
        return start * padded + row * size;
    }

    /** Sums the inputs of each row in each block of 32, left to right, for {@link #blockSums}. */
    void sumBlocks() {
        int blocks = depth / DType.BLOCK;
        if (blockSums.length < blocks * padded) {
            blockSums = new float[blocks * padded];
        }
        for (int block = 0; block < blocks; block++) {
            int start = block * DType.BLOCK / HostOps.SLICE * HostOps.SLICE;
            int size = Math.min(HostOps.SLICE, depth - start);
            int height;
            for (int row = 0; row < rows; row += height) {
                height = height(row);
                int first = at(start, size, row) + (block * DType.BLOCK - start) * height;
                for (int r = 0; r < height; r++) {
                    float sum = 0f;
                    for (int k = 0; k < DType.BLOCK; k++) {
                        sum += elements[first + k * height + r];
                    }
                    blockSums[block * padded + row + r] = sum;
                }
            }
        }
    }

    /** What {@link #sumBlocks} summed. */
    float[] blockSums() {
        return blockSums;
    }

    /** Where the sum of a row's block lies that begins at {@code start}. */
    int blockSumsAt(int start, int row) {
        return start / DType.BLOCK * padded + row;
    }

    private void packSlice(float[] x, int offset, int slice) {
        int start = slice * HostOps.SLICE;
        int size = Math.min(HostOps.SLICE, depth - start);
        int height;
        for (int row = 0; row < rows; row += height) {
            height = height(row);
            int at = at(start, size, row);
            if (row + height > rows) {
                Arrays.fill(elements, at, at + height * size, 0f);
            }
            packTile(x, offset + row * depth + start, Math.min(height, rows - row), height, size, at);
        }
    }

    private void packTile(float[] x, int from, int count, int height, int size, int at) {
        for (int r = 0; r < count; r++) {
            int row = from + r * depth;
            for (int k = 0; k < size; k++) {
                elements[at + k * height + r] = x[row + k];
            }
        }
    }
}
