package io.github.tornadotransformers.testsupport;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/** Small models of both families with odd shapes, and weights for any program, all from a seed. */
public final class RandomModels {
    private RandomModels() {}

    /** Either family. */
    public static ModelConfig config(RandomData data) {
        return data.coin() ? gpt2(data) : llama(data);
    }

    public static Gpt2Config gpt2(RandomData data) {
        int heads = data.between(1, 4);
        int hidden = heads * data.between(1, 24);
        int context = data.between(1, 200);
        return new Gpt2Config(
                new Sizes(data.size(257), context, hidden, data.size(389), data.between(1, 3)),
                heads,
                1e-5f,
                data.coin(),
                data.coin());
    }

    public static LlamaConfig llama(RandomData data) {
        int kvHeads = data.between(1, 3);
        int heads = kvHeads * data.between(1, 3);
        RopeScaling scaling = switch (data.between(0, 2)) {
            case 0 -> new RopeScaling.None();
            case 1 -> new RopeScaling.Linear(2);
            default -> new RopeScaling.Llama3(8, 1, 4, 64);
        };
        Sizes sizes =
                new Sizes(data.size(257), data.between(1, 200), data.size(200), data.size(389), data.between(1, 3));
        Heads shape = new Heads(heads, kvHeads, 2 * data.between(1, 12));
        Rope rope = new Rope(10000, shape.headDim(), scaling);
        return new LlamaConfig(sizes, shape, rope, 1e-6f, data.coin(), data.coin(), data.coin());
    }

    /** Weights large enough that logits differ clearly, in memory that lives as long as they are used. */
    public static Weights weights(Program program, DType dtype, RandomData data) {
        return weights(program, dtype, WeightLayout.ROW_MAJOR, data);
    }

    /** As the other, matrices in an order of choice. */
    public static Weights weights(Program program, DType dtype, WeightLayout layout, RandomData data) {
        Map<Weight, WeightData> all = new HashMap<>();
        for (Weight weight : program.weights()) {
            boolean isMatrix = weight.kind() == Weight.Kind.MATRIX;
            WeightData rowMajor = weight(weight, isMatrix ? dtype : DType.F32, data);
            all.put(weight, isMatrix ? relabelled(rowMajor, layout) : rowMajor);
        }
        return new Weights(all);
    }

    /** The same memory read in another order: random elements are as random in any. */
    private static WeightData relabelled(WeightData data, WeightLayout layout) {
        return new WeightData(data.weight(), data.dtype(), layout, data.elements(), data.scales());
    }

    private static WeightData weight(Weight weight, DType dtype, RandomData data) {
        int size = Math.toIntExact(weight.size());
        float deviation = weight.kind() == Weight.Kind.MATRIX ? (float) (1 / Math.sqrt(weight.rows())) : 1f;
        MemorySegment elements = Arena.ofAuto().allocate((long) size * dtype.bytes(), 64);
        float[] values = data.floats(size);
        for (int i = 0; i < size; i++) {
            float value = values[i] * deviation;
            switch (dtype) {
                case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
                case BF16 ->
                    elements.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (Float.floatToRawIntBits(value) >>> 16));
                case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(value));
                case INT8 -> elements.set(ValueLayout.JAVA_BYTE, i, (byte) Math.clamp(values[i] * 40, -127, 127));
                case STORED -> throw new IllegalArgumentException("blocks are not made here");
            }
        }
        return new WeightData(weight, dtype, elements, scales(weight, dtype, deviation / 40, data));
    }

    private static MemorySegment scales(Weight weight, DType dtype, float scale, RandomData data) {
        if (dtype != DType.INT8) {
            return MemorySegment.NULL;
        }
        int size = weight.layers() * Math.ceilDiv(weight.rows(), DType.BLOCK) * weight.columns();
        float[] scales = data.floats(size);
        for (int i = 0; i < size; i++) {
            scales[i] = scale * (1 + 0.1f * scales[i]);
        }
        MemorySegment segment = Arena.ofAuto().allocate((long) size * Float.BYTES, 64);
        MemorySegment.copy(scales, 0, segment, ValueLayout.JAVA_FLOAT, 0, size);
        return segment;
    }
}
