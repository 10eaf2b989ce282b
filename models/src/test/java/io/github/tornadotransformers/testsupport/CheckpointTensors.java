package io.github.tornadotransformers.testsupport;

import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.StoredTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The elements of a checkpoint's tensors as stored, widened to double: what {@link Float64Model} runs on. */
final class CheckpointTensors implements Function<String, double[]> {
    private final Checkpoint checkpoint;
    private final Map<String, double[]> read = new HashMap<>();

    CheckpointTensors(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
    }

    @Override
    public double[] apply(String name) {
        return read.computeIfAbsent(name, this::read);
    }

    private double[] read(String name) {
        StoredTensor tensor = checkpoint.tensor(name);
        long count = tensor.shape().stream().reduce(1L, Math::multiplyExact);
        double[] values = new double[Math.toIntExact(count)];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = tensor.read(arena);
            for (int i = 0; i < values.length; i++) {
                values[i] = switch (tensor.dtype()) {
                    case "F32" -> bytes.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i);
                    case "BF16" -> Float.intBitsToFloat(bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i) << 16);
                    case "F16" -> Float.float16ToFloat(bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i));
                    default -> throw new IllegalArgumentException(name + " has type " + tensor.dtype());
                };
            }
        }
        return values;
    }
}
