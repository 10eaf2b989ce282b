package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Writes a safetensors file, a few megabytes at a time. The same tensors give the same bytes, whatever order they come in:
 * as in the reference writer, wider types come first, then names in order, so that every element is aligned.
 */
public final class SafetensorsWriter {
    private static final int HEADER_ALIGNMENT = 8;

    /** Elements that one thread converts at a time. */
    private static final int SLICE_ELEMENTS = 1 << 16;

    private static final int SLICES = 16;

    private SafetensorsWriter() {}

    /**
     * A tensor to be written.
     *
     * @param type as stored; the floats are rounded to nearest, ties to even
     */
    public record Tensor(String name, StoredType type, List<Long> shape, FloatSource data) {
        public Tensor {
            shape = List.copyOf(shape);
        }

        /** @throws ArithmeticException if a {@code long} cannot hold it */
        long elements() {
            return shape.stream().reduce(1L, Math::multiplyExact);
        }

        long bytes() {
            return Math.multiplyExact(elements(), (long) type.bytes());
        }
    }

    /**
     * Writes the file whole or not at all: beside it first, forced to the disk, then moved into its place.
     *
     * @throws IOException if it cannot be written; an older file of that name is then as it was
     * @throws IllegalArgumentException if two tensors have the same name
     */
    public static void write(Path file, Map<String, String> metadata, List<Tensor> tensors) throws IOException {
        List<Tensor> ordered = tensors.stream()
                .sorted(Comparator.comparingInt(
                                (Tensor tensor) -> -tensor.type().bytes())
                        .thenComparing(Tensor::name))
                .toList();
        if (tensors.stream().map(Tensor::name).distinct().count() < tensors.size()) {
            throw new IllegalArgumentException("two tensors of the same name for " + file);
        }
        WholeFile.write(file, channel -> {
            WholeFile.writeFully(channel, ByteBuffer.wrap(header(metadata, ordered)));
            writeData(channel, ordered);
        });
    }

    private static byte[] header(Map<String, String> metadata, List<Tensor> tensors) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (JsonGenerator json = new JsonFactory().createGenerator(text, JsonEncoding.UTF8)) {
            json.writeStartObject();
            if (!metadata.isEmpty()) {
                json.writeObjectFieldStart(SafetensorsHeader.METADATA);
                for (Map.Entry<String, String> entry : new TreeMap<>(metadata).entrySet()) {
                    json.writeStringField(entry.getKey(), entry.getValue());
                }
                json.writeEndObject();
            }
            long offset = 0;
            for (Tensor tensor : tensors) {
                long end = Math.addExact(offset, tensor.bytes());
                writeEntry(json, tensor, offset, end);
                offset = end;
            }
            json.writeEndObject();
        }
        int padding = -text.size() & HEADER_ALIGNMENT - 1;
        text.write(" ".repeat(padding).getBytes(StandardCharsets.UTF_8));
        ByteBuffer header = ByteBuffer.allocate(SafetensorsFile.LENGTH_BYTES + text.size());
        header.order(ByteOrder.LITTLE_ENDIAN).putLong(text.size()).put(text.toByteArray());
        return header.array();
    }

    private static void writeEntry(JsonGenerator json, Tensor tensor, long begin, long end) throws IOException {
        json.writeObjectFieldStart(tensor.name());
        json.writeStringField(SafetensorsHeader.DTYPE, tensor.type().name());
        json.writeArrayFieldStart(SafetensorsHeader.SHAPE);
        for (long dimension : tensor.shape()) {
            json.writeNumber(dimension);
        }
        json.writeEndArray();
        json.writeArrayFieldStart(SafetensorsHeader.OFFSETS);
        json.writeNumber(begin);
        json.writeNumber(end);
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void writeData(FileChannel channel, List<Tensor> tensors) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment chunk = arena.allocate((long) SLICES * SLICE_ELEMENTS * Long.BYTES);
            for (Tensor tensor : tensors) {
                long elements = tensor.elements();
                long step = (long) SLICES * SLICE_ELEMENTS;
                for (long first = 0; first < elements; first += step) {
                    long count = Math.min(step, elements - first);
                    encode(tensor, first, count, chunk);
                    WholeFile.writeFully(
                            channel,
                            chunk.asSlice(0, count * tensor.type().bytes()).asByteBuffer());
                }
            }
        }
    }

    private static void encode(Tensor tensor, long first, long count, MemorySegment chunk) {
        int slices = (int) Math.ceilDiv(count, (long) SLICE_ELEMENTS);
        IntStream.range(0, slices).parallel().forEach(slice -> {
            long start = (long) slice * SLICE_ELEMENTS;
            int length = (int) Math.min(SLICE_ELEMENTS, count - start);
            float[] values = new float[length];
            tensor.data().read(first + start, values, length);
            int bytes = tensor.type().bytes();
            encode(tensor.type(), values, chunk.asSlice(start * bytes, (long) length * bytes));
        });
    }

    private static void encode(StoredType type, float[] values, MemorySegment target) {
        ByteBuffer buffer = target.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        switch (type) {
            case F64 -> {
                for (float value : values) {
                    buffer.putDouble(value);
                }
            }
            case F32 ->
                MemorySegment.copy(
                        values, 0, target, ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN), 0, values.length);
            case F16 -> {
                for (float value : values) {
                    buffer.putShort(Float.floatToFloat16(value));
                }
            }
            case BF16 -> {
                for (float value : values) {
                    buffer.putShort(Bfloat16.ofFloat(value));
                }
            }
        }
    }
}
