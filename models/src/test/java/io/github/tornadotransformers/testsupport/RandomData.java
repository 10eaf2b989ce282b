package io.github.tornadotransformers.testsupport;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Seeded shapes and values for property tests. */
public final class RandomData {
    /** Sizes that find mistakes: one, primes, around vector widths and slices, and not multiples of either. */
    private static final int[] SIZES = {
        1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 47, 64, 97, 127, 128, 129, 200, 255, 257, 389
    };

    private final RandomGenerator random;

    public RandomData(long seed) {
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    /** A size that may matter, at most {@code limit}. */
    public int size(int limit) {
        int size;
        do {
            size = SIZES[random.nextInt(SIZES.length)];
        } while (size > limit);
        return size;
    }

    /** In {@code [low, high]}. */
    public int between(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    public boolean coin() {
        return random.nextBoolean();
    }

    /** Gaussian values, deviation 1. */
    public float[] floats(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    /** Values that hurt: zeros of both signs, denormals, exponents all over the range of a product, repeated values. */
    public float[] wildFloats(int count) {
        float[] values = floats(count);
        for (int i = 0; i < count; i++) {
            switch (random.nextInt(16)) {
                case 0 -> values[i] = 0f;
                case 1 -> values[i] = -0f;
                case 2 -> values[i] *= Float.MIN_NORMAL / 4;
                case 3 -> values[i] *= 1e9f;
                case 4 -> values[i] *= 1e-9f;
                case 5 -> values[i] = i == 0 ? 1f : values[i - 1];
                default -> {}
            }
        }
        return values;
    }

    public int[] ints(int count, int bound) {
        return random.ints(count, 0, bound).toArray();
    }
}
