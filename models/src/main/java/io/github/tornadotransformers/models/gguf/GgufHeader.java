package io.github.tornadotransformers.models.gguf;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * What stands before the data of one GGUF file of version 2 or 3: a magic number, the keys with their values, and of each tensor its
 * name, shape, type and place. Tensors lie one behind the other, each at the next multiple of {@code general.alignment}.
 */
final class GgufHeader {
    static final int MAGIC = 0x4655_4747;
    static final int VERSION = 3;
    static final String ALIGNMENT = "general.alignment";
    static final int DEFAULT_ALIGNMENT = 32;

    /** Types of values; the others have no use for a name. */
    static final int UINT32 = 4;

    static final int INT32 = 5;
    static final int FLOAT32 = 6;
    static final int BOOL = 7;
    static final int TEXT = 8;
    static final int ARRAY = 9;
    static final int UINT64 = 10;

    private static final int FIRST_VERSION = 2;
    private static final int MAX_ALIGNMENT = 1 << 16;
    private static final int MAX_NAME_BYTES = 65_535;
    private static final int MAX_TEXT_BYTES = 1 << 28;
    private static final int MAX_DIMENSIONS = 4;

    /** A key's length and its value's type. */
    private static final int LEAST_KEY_BYTES = Long.BYTES + Integer.BYTES;

    /** A name's length, the number of dimensions, the type and the offset. */
    private static final int LEAST_TENSOR_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;

    private final Path file;
    private final GgufInput in;
    private final SequencedMap<String, GgufValue> values = new LinkedHashMap<>();
    private final SequencedMap<String, GgufTensor> tensors = new LinkedHashMap<>();

    private GgufHeader(Path file, GgufInput in) {
        this.file = file;
        this.in = in;
    }

    /** @throws CheckpointException if the file cannot be read or breaks a rule of the format */
    static GgufHeader read(Path file) {
        try (FileChannel channel = FileChannel.open(file)) {
            GgufHeader header = new GgufHeader(file, new GgufInput(file, channel));
            header.read();
            return header;
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }

    SequencedMap<String, GgufValue> values() {
        return values;
    }

    SequencedMap<String, GgufTensor> tensors() {
        return tensors;
    }

    private void read() throws IOException {
        requireVersion();
        int tensorCount = in.readCount("tensors", LEAST_TENSOR_BYTES);
        int keys = in.readCount("keys", LEAST_KEY_BYTES);
        for (int i = 0; i < keys; i++) {
            readKey();
        }
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < tensorCount; i++) {
            entries.add(readEntry());
        }
        place(entries, alignment());
    }

    private void requireVersion() throws IOException {
        if (in.size() < 2 * Integer.BYTES) {
            throw in.rejected("it has " + in.size() + " bytes, too short for a GGUF file");
        }
        int magic = in.readInt("the magic number");
        if (magic != MAGIC) {
            throw in.rejected(String.format("it begins with 0x%08x, expected \"GGUF\": not a GGUF file", magic));
        }
        int version = in.readInt("the version");
        if (version < FIRST_VERSION || version > VERSION) {
            boolean swapped = Integer.reverseBytes(version) >= 1 && Integer.reverseBytes(version) <= VERSION;
            throw in.rejected(
                    swapped
                            ? "it is big-endian, which is not implemented"
                            : "it is of version " + Integer.toUnsignedString(version) + ", expected " + FIRST_VERSION
                                    + " or " + VERSION);
        }
    }

    private void readKey() throws IOException {
        String key = in.readText("a key", MAX_NAME_BYTES);
        String what = "key " + Quoted.text(key);
        GgufValue value = readValue(in.readInt(what), what);
        if (values.putIfAbsent(key, value) != null) {
            throw in.rejected(what + " is there twice");
        }
    }

    private GgufValue readValue(int type, String what) throws IOException {
        return switch (type) {
            case TEXT -> new GgufValue.Text(in.readText(what, MAX_TEXT_BYTES));
            case ARRAY -> readArray(what);
            default -> readNumber(type, what);
        };
    }

    private GgufValue readNumber(int type, String what) throws IOException {
        return switch (type) {
            case 0 -> new GgufValue.Whole(in.readByte(what) & 0xFF);
            case 1 -> new GgufValue.Whole(in.readByte(what));
            case 2 -> new GgufValue.Whole(in.readShort(what) & 0xFFFF);
            case 3 -> new GgufValue.Whole(in.readShort(what));
            case UINT32 -> new GgufValue.Whole(Integer.toUnsignedLong(in.readInt(what)));
            case INT32 -> new GgufValue.Whole(in.readInt(what));
            case FLOAT32 -> GgufValue.Real.of(Float.intBitsToFloat(in.readInt(what)));
            case BOOL -> new GgufValue.Flag(readFlag(what));
            case UINT64 -> new GgufValue.Whole(requireSigned(in.readLong(what), what));
            case 11 -> new GgufValue.Whole(in.readLong(what));
            case 12 -> new GgufValue.Real(Double.longBitsToDouble(in.readLong(what)));
            default ->
                throw in.rejected(
                        what + " has values of type " + Integer.toUnsignedString(type) + ", expected one of 0 to 12");
        };
    }

    private boolean readFlag(String what) throws IOException {
        int flag = in.readByte(what);
        if (flag < 0 || flag > 1) {
            throw in.rejected(what + " is " + (flag & 0xFF) + ", expected 0 or 1");
        }
        return flag == 1;
    }

    private long requireSigned(long value, String what) {
        if (value < 0) {
            throw in.rejected(what + " is " + Long.toUnsignedString(value) + ", more than " + Long.MAX_VALUE);
        }
        return value;
    }

    private GgufValue readArray(String what) throws IOException {
        int type = in.readInt(what);
        String members = "values of " + what;
        if (type == TEXT) {
            int count = in.readCount(members, Long.BYTES);
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                texts.add(in.readText(what, MAX_TEXT_BYTES));
            }
            return new GgufValue.Texts(texts);
        }
        if (type == ARRAY) {
            throw in.rejected(what + " is a list of lists, which is not implemented");
        }
        int count = in.readCount(members, Byte.BYTES);
        if (type == FLOAT32) {
            return new GgufValue.Numbers(readFloats(count, what), false);
        }
        List<Double> numbers = new ArrayList<>();
        boolean areWhole = true;
        for (int i = 0; i < count; i++) {
            GgufValue number = readNumber(type, what);
            areWhole &= !(number instanceof GgufValue.Real);
            numbers.add(
                    switch (number) {
                        case GgufValue.Whole whole -> (double) whole.value();
                        case GgufValue.Real real -> real.value();
                        case GgufValue.Flag flag -> flag.value() ? 1.0 : 0.0;
                        default -> throw new IllegalStateException(what);
                    });
        }
        return new GgufValue.Numbers(numbers, areWhole);
    }

    /** As they are: a vocabulary's scores are many, and nobody reads them as decimal numbers. */
    private List<Double> readFloats(int count, String what) throws IOException {
        List<Double> floats = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            floats.add((double) Float.intBitsToFloat(in.readInt(what)));
        }
        return floats;
    }

    /** A tensor that has no place yet. */
    private record Entry(String name, GgufTensorType type, List<Long> shape, long bytes, long offset) {}

    private Entry readEntry() throws IOException {
        String name = in.readText("a tensor's name", MAX_NAME_BYTES);
        String what = "tensor " + Quoted.text(name);
        int dimensions = in.readInt(what);
        if (dimensions < 0 || dimensions > MAX_DIMENSIONS) {
            throw in.rejected(what + " has " + Integer.toUnsignedString(dimensions) + " dimensions, expected at most "
                    + MAX_DIMENSIONS);
        }
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < dimensions; i++) {
            long size = in.readLong(what);
            if (size < 1) {
                throw in.rejected(what + " has a dimension of " + Long.toUnsignedString(size)
                        + ", expected a number from 1 to " + Long.MAX_VALUE);
            }
            shape.addFirst(size);
        }
        int id = in.readInt(what);
        GgufTensorType type = GgufTensorType.of(id)
                .orElseThrow(() ->
                        in.rejected(what + " has type " + Integer.toUnsignedString(id) + ", which is not a known one"));
        return new Entry(name, type, shape, bytes(what, type, shape), in.readLong(what));
    }

    private long bytes(String what, GgufTensorType type, List<Long> shape) {
        long row = shape.isEmpty() ? 1 : shape.getLast();
        if (row % type.blockSize() != 0) {
            throw in.rejected(what + " of type " + type + " has rows of " + row + " elements, expected a multiple of "
                    + type.blockSize());
        }
        try {
            long elements = shape.stream().reduce(1L, Math::multiplyExact);
            return Math.multiplyExact(elements / type.blockSize(), (long) type.blockBytes());
        } catch (ArithmeticException e) {
            throw new CheckpointException(
                    Quoted.path(file) + ": " + what + " has shape " + shape + ", more elements than a file can hold",
                    e);
        }
    }

    private long alignment() {
        GgufValue value = values.getOrDefault(ALIGNMENT, new GgufValue.Whole(DEFAULT_ALIGNMENT));
        if (!(value instanceof GgufValue.Whole alignment)
                || Long.bitCount(alignment.value()) != 1
                || alignment.value() < Byte.SIZE
                || alignment.value() > MAX_ALIGNMENT) {
            throw in.rejected("key \"" + ALIGNMENT + "\" is " + Quoted.line(value.toString())
                    + ", expected a power of two from " + Byte.SIZE + " to " + MAX_ALIGNMENT);
        }
        return alignment.value();
    }

    private void place(List<Entry> entries, long alignment) {
        long start = aligned(in.position(), alignment);
        long next = 0;
        for (Entry entry : entries) {
            String what = "tensor " + Quoted.text(entry.name);
            if (entry.offset != next) {
                throw in.rejected(what + " is at offset " + Long.toUnsignedString(entry.offset) + ", expected " + next
                        + ", behind the one before it");
            }
            long room = in.size() - start - next;
            if (entry.bytes > room) {
                throw in.rejected(what + " of type " + entry.type + " and shape " + entry.shape + " has " + entry.bytes
                        + " bytes, but only " + Math.max(0, room) + " follow (an incomplete download?)");
            }
            GgufTensor tensor = new GgufTensor(file, entry.name, entry.type, entry.shape, start + next, entry.bytes);
            if (tensors.putIfAbsent(entry.name, tensor) != null) {
                throw in.rejected(what + " is there twice");
            }
            next = aligned(next + entry.bytes, alignment);
        }
    }

    /** The next multiple; sizes are those of files, far from overflowing. */
    static long aligned(long offset, long alignment) {
        return Math.ceilDiv(offset, alignment) * alignment;
    }
}
