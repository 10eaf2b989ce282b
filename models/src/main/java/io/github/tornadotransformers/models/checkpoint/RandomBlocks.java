package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * A tensor in blocks whose quants and small integers are random bits, as a file has it, from a seed. Its scales are such that weights have
 * about the deviation that is asked for.
 */
record RandomBlocks(BlockFormat format, long seed, double deviation) {
    private static final ValueLayout.OfShort HALVES = ValueLayout.JAVA_SHORT_UNALIGNED;

    /** Where Q6_K, which is not like the others, has its scale. */
    private static final int SCALE_OF_SIX_BITS = 208;

    /** @param groups of the format, one behind the other */
    MemorySegment bytes(Arena arena, long groups) {
        MemorySegment file = arena.allocate(Math.multiplyExact(groups, (long) format.fileBytes()));
        SplittableRandom random = new SplittableRandom(seed);
        byte[] group = new byte[format.fileBytes()];
        for (long g = 0; g < groups; g++) {
            random.nextBytes(group);
            long at = g * format.fileBytes();
            MemorySegment.copy(group, 0, file, ValueLayout.JAVA_BYTE, at, group.length);
            double scale = scale() * random.nextDouble(0.5, 1.5);
            long scaleAt = at + (format == BlockFormat.Q6_K ? SCALE_OF_SIX_BITS : 0);
            file.set(HALVES, scaleAt, Float.floatToFloat16((float) (random.nextBoolean() ? scale : -scale)));
            if (format.hasMinimum()) {
                double minimum = (format.isTwoLevel() ? 1 : -1) * scale * middle();
                file.set(HALVES, scaleAt + Short.BYTES, Float.floatToFloat16((float) minimum));
            }
        }
        return file;
    }

    private double scale() {
        int integers = !format.isTwoLevel() ? 1 : format.hasMinimum() ? 36 : 74;
        return deviation / (middle() * integers);
    }

    /** Of the integers that quants are. */
    private double middle() {
        return (1 << format.bits()) / 2.0;
    }
}
