package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.batching.KvType;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** What is stored is, to the bit, what the host narrows; what is loaded is what it widens. */
class KvFormatTest {
    private static final int PATTERNS = 1 << Short.SIZE;

    private record Kept(KvType type, KvPool pool, FloatArray bounds, FloatArray powers) {
        static Kept of(KvType type) {
            KvPool pool = KvPool.of(type, new FloatArray(1));
            return new Kept(type, pool, pool.bounds(), pool.powers());
        }

        void requireStored(float value) {
            KvFormat.store(pool.format(), pool.floats(), pool.shorts(), bounds, 0, value);
            assertThat(pool.shorts().get(0))
                    .as("%s of %s", type, Float.toHexString(value))
                    .isEqualTo(type.narrow(value));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void everyNumberOfTheTypeAndThoseAround(KvType type) {
        Kept kept = Kept.of(type);
        for (int bits = 0; bits < PATTERNS; bits++) {
            float value = type.widen((short) bits);
            if (!Float.isNaN(value)) {
                float next = type.widen((short) (bits + 1));
                float middle = value / 2 + next / 2;
                for (float each : new float[] {value, Math.nextUp(value), Math.nextDown(value)}) {
                    kept.requireStored(each);
                }
                if (!Float.isNaN(middle)) {
                    kept.requireStored(middle);
                    kept.requireStored(Math.nextUp(middle));
                    kept.requireStored(Math.nextDown(middle));
                }
                ShortArray one = ShortArray.fromElements((short) bits);
                float loaded = KvFormat.load(kept.pool().format(), kept.pool().floats(), one, kept.powers(), 0);
                assertThat(Float.floatToRawIntBits(loaded)).isEqualTo(Float.floatToRawIntBits(value));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void anyFloat(KvType type) {
        Kept kept = Kept.of(type);
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 1_000_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (!Float.isNaN(value)) {
                kept.requireStored(value);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void nanBecomesInfinite(KvType type) {
        Kept kept = Kept.of(type);
        KvFormat.store(kept.pool().format(), kept.pool().floats(), kept.pool().shorts(), kept.bounds(), 0, Float.NaN);
        assertThat(type.widen(kept.pool().shorts().get(0))).isEqualTo(Float.POSITIVE_INFINITY);
    }
}
