package io.github.tornadotransformers.host;

/**
 * Sliced sums of one row. Within a slice every addition waits for the one before, so several slices run side by side.
 */
final class SlicedSums {
    private static final int SLICE = HostOps.SLICE;
    private static final int ABREAST = 4;

    private SlicedSums() {}

    static float sum(float[] x, int offset, int length) {
        return sum(0f, x, offset, length);
    }

    /** @param total of the slices before */
    private static float sum(float total, float[] x, int offset, int length) {
        int start = 0;
        for (; start + ABREAST * SLICE <= length; start += ABREAST * SLICE) {
            float a = 0f;
            float b = 0f;
            float c = 0f;
            float d = 0f;
            for (int i = offset + start; i < offset + start + SLICE; i++) {
                a += x[i];
                b += x[i + SLICE];
                c += x[i + 2 * SLICE];
                d += x[i + 3 * SLICE];
            }
            total = total + a + b + c + d;
        }
        for (; start < length; start += SLICE) {
            float slice = 0f;
            int end = offset + Math.min(start + SLICE, length);
            for (int i = offset + start; i < end; i++) {
                slice += x[i];
            }
            total += slice;
        }
        return total;
    }

    /** The sum over {@code [first, end)}; slices begin at multiples of the slice, not at {@code first}. */
    static float sum(float[] x, int offset, int first, int end) {
        int aligned = Math.min(end, Math.ceilDiv(first, SLICE) * SLICE);
        float slice = 0f;
        for (int i = first; i < aligned; i++) {
            slice += x[offset + i];
        }
        return sum(slice, x, offset + aligned, end - aligned);
    }

    /** The sum of {@code (x[i] - shift)^2}; a shift of zero leaves the bits of {@code x[i]^2}. */
    static float sumOfSquares(float[] x, int offset, int length, float shift) {
        float total = 0f;
        int start = 0;
        for (; start + ABREAST * SLICE <= length; start += ABREAST * SLICE) {
            float a = 0f;
            float b = 0f;
            float c = 0f;
            float d = 0f;
            for (int i = offset + start; i < offset + start + SLICE; i++) {
                float p = x[i] - shift;
                float q = x[i + SLICE] - shift;
                float r = x[i + 2 * SLICE] - shift;
                float s = x[i + 3 * SLICE] - shift;
                a = Math.fma(p, p, a);
                b = Math.fma(q, q, b);
                c = Math.fma(r, r, c);
                d = Math.fma(s, s, d);
            }
            total = total + a + b + c + d;
        }
        for (; start < length; start += SLICE) {
            float slice = 0f;
            int end = offset + Math.min(start + SLICE, length);
            for (int i = offset + start; i < end; i++) {
                float p = x[i] - shift;
                slice = Math.fma(p, p, slice);
            }
            total += slice;
        }
        return total;
    }

    /** The sum of {@code x[i] * y[i]}. */
    static float sumOfProducts(float[] x, int xOffset, float[] y, int yOffset, int length) {
        float total = 0f;
        for (int start = 0; start < length; start += SLICE) {
            float slice = 0f;
            int end = Math.min(start + SLICE, length);
            for (int i = start; i < end; i++) {
                slice = Math.fma(x[xOffset + i], y[yOffset + i], slice);
            }
            total += slice;
        }
        return total;
    }
}
