package io.github.tornadotransformers.models.checkpoint;

import java.nio.charset.StandardCharsets;

/**
 * A tensor of seeded random numbers, each a function of seed, tensor name and index alone, so that tensors and their parts
 * can be made in any order and by any number of threads.
 *
 * <p>The element at index {@code i} is {@code mean + deviation * z}. The four 16-bit quarters of {@code mix(start + (i + 1) *
 * GAMMA)} are uniform; their sum, shifted and scaled to mean 0 and deviation 1, is {@code z}: nearly normal, within 3.5.
 * {@code start} is {@code mix(seed)} plus the FNV-1a hash of the name. {@code mix} and {@code GAMMA} are SplitMix64's (Steele,
 * Lea and Flood 2014, "Fast splittable pseudorandom number generators").
 */
public final class RandomTensor implements FloatSource {
    private static final long GAMMA = 0x9E37_79B9_7F4A_7C15L;
    private static final int QUARTER_BITS = 16;
    private static final int QUARTER_MASK = 0xFFFF;
    private static final int SUM_MEAN = 2 * QUARTER_MASK;
    private static final double SUM_DEVIATION = (QUARTER_MASK + 1) / Math.sqrt(3);

    private final long start;
    private final float mean;
    private final float scale;

    /** @param name of the tensor, without a family's prefix */
    public RandomTensor(long seed, String name, double mean, double deviation) {
        this.start = mix(seed) + hash(name);
        this.mean = (float) mean;
        this.scale = (float) (deviation / SUM_DEVIATION);
    }

    public float element(long index) {
        long bits = mix(start + (index + 1) * GAMMA);
        int sum = (int) (bits & QUARTER_MASK)
                + (int) (bits >>> QUARTER_BITS & QUARTER_MASK)
                + (int) (bits >>> 2 * QUARTER_BITS & QUARTER_MASK)
                + (int) (bits >>> 3 * QUARTER_BITS);
        return mean + scale * (sum - SUM_MEAN);
    }

    @Override
    public void read(long first, float[] values, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = element(first + i);
        }
    }

    private static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }

    private static long hash(String name) {
        long hash = 0xCBF2_9CE4_8422_2325L;
        for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ Byte.toUnsignedInt(each)) * 0x0000_0100_0000_01B3L;
        }
        return hash;
    }
}
