package io.github.tornadotransformers.models.gguf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SequencedMap;

/**
 * Writes what stands before the data of a GGUF file of version 3. Whole numbers are written as 32 bits without sign where they
 * fit, others as 64; numbers as float32; arrays of numbers as 32 bits.
 */
public final class GgufHeaderWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private GgufHeaderWriter() {}

    /**
     * A tensor that is going to be written.
     *
     * @param shape row-major, outermost dimension first
     */
    public record Entry(String name, GgufTensorType type, List<Long> shape) {
        public Entry {
            shape = List.copyOf(shape);
            if (shape.getLast() % type.blockSize() != 0) {
                throw new IllegalArgumentException(
                        name + " has rows of " + shape.getLast() + " elements, which are no whole blocks of " + type);
            }
        }

        /** @throws ArithmeticException if a {@code long} cannot hold it */
        public long elements() {
            return shape.stream().reduce(1L, Math::multiplyExact);
        }

        /** @throws ArithmeticException if a {@code long} cannot hold them */
        public long bytes() {
            return Math.multiplyExact(elements() / type.blockSize(), (long) type.blockBytes());
        }

        /** Bytes behind it, so that the next tensor is aligned. */
        public int padding() {
            return (int) (GgufHeader.aligned(bytes(), GgufHeader.DEFAULT_ALIGNMENT) - bytes());
        }
    }

    /** The bytes up to the data of the first tensor. */
    public static byte[] bytes(SequencedMap<String, GgufValue> values, List<Entry> tensors) {
        GgufHeaderWriter writer = new GgufHeaderWriter();
        writer.put32(GgufHeader.MAGIC);
        writer.put32(GgufHeader.VERSION);
        writer.put64(tensors.size());
        writer.put64(values.size());
        values.forEach((key, value) -> {
            writer.putText(key);
            writer.putValue(value);
        });
        long offset = 0;
        for (Entry tensor : tensors) {
            writer.putEntry(tensor, offset);
            offset = Math.addExact(offset, Math.addExact(tensor.bytes(), (long) tensor.padding()));
        }
        int size = writer.out.size();
        writer.out.writeBytes(new byte[(int) GgufHeader.aligned(size, GgufHeader.DEFAULT_ALIGNMENT) - size]);
        return writer.out.toByteArray();
    }

    private void putEntry(Entry tensor, long offset) {
        putText(tensor.name);
        put32(tensor.shape.size());
        tensor.shape.reversed().forEach(this::put64);
        put32(tensor.type.id());
        put64(offset);
    }

    private void putValue(GgufValue value) {
        switch (value) {
            case GgufValue.Whole whole
            when whole.value() >>> Integer.SIZE == 0 -> {
                put32(GgufHeader.UINT32);
                put32((int) whole.value());
            }
            case GgufValue.Whole whole -> {
                put32(GgufHeader.UINT64);
                put64(whole.value());
            }
            case GgufValue.Real real -> {
                put32(GgufHeader.FLOAT32);
                put32(Float.floatToRawIntBits((float) real.value()));
            }
            case GgufValue.Flag flag -> {
                put32(GgufHeader.BOOL);
                out.write(flag.value() ? 1 : 0);
            }
            case GgufValue.Text text -> {
                put32(GgufHeader.TEXT);
                putText(text.value());
            }
            case GgufValue.Texts texts -> {
                put32(GgufHeader.ARRAY);
                put32(GgufHeader.TEXT);
                put64(texts.values().size());
                texts.values().forEach(this::putText);
            }
            case GgufValue.Numbers numbers -> {
                put32(GgufHeader.ARRAY);
                put32(numbers.areWhole() ? GgufHeader.INT32 : GgufHeader.FLOAT32);
                put64(numbers.values().size());
                for (double number : numbers.values()) {
                    put32(numbers.areWhole() ? (int) number : Float.floatToRawIntBits((float) number));
                }
            }
        }
    }

    private void putText(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        put64(bytes.length);
        out.writeBytes(bytes);
    }

    private void put32(int value) {
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
    }

    private void put64(long value) {
        out.writeBytes(ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array());
    }
}
