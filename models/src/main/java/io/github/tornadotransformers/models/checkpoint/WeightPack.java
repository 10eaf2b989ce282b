package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/**
 * A checkpoint's weights in a file, as they lie in memory for one program, type and layout: it is mapped where loading would read
 * and turn every tensor. It is made when it is first asked for, and made again when it does not fit the checkpoint any more or is
 * damaged: its {@link PackKey} names all that its contents depend on, and the checksums of all of it are compared when it is
 * mapped, which also brings it into memory.
 *
 * <p>Layout, little-endian: {@link #MAGIC}; the key; CRC-32C of each piece of the weights, in the order of their allocation;
 * CRC-32C of all before; then, at the next multiple of {@link #ALIGNMENT}, the weights, each at such a multiple.
 */
public final class WeightPack {
    private static final byte[] MAGIC = {'T', 'T', 'P', 'A', 'C', 'K', '\r', '\n'};
    private static final long ALIGNMENT = 1 << 12;

    /** What one thread checks at a time. */
    private static final long PIECE = 1 << 24;

    /** Bytes of a single write; a buffer holds no more than an {@code int} counts. */
    private static final long MAX_WRITE = 1 << 28;

    private static final String ENDING = ".pack";
    private static final int NAME_DIGITS = 16;

    private final Path file;
    private final Checkpoint checkpoint;
    private final Program program;
    private final DType dtype;
    private final WeightLayout layout;
    private final byte[] key;

    private WeightPack(Path file, Checkpoint checkpoint, Program program, DType dtype, WeightLayout layout) {
        this.file = file;
        this.checkpoint = checkpoint;
        this.program = program;
        this.dtype = dtype;
        this.layout = layout;
        this.key = PackKey.of(checkpoint, program, dtype, layout);
    }

    /**
     * The pack of a checkpoint in a folder of packs; neither need exist.
     *
     * @throws CheckpointException if the checkpoint's files cannot be read
     */
    public static WeightPack in(Path packs, Checkpoint checkpoint, Program program, DType dtype, WeightLayout layout) {
        Path file = packs.resolve(prefix(checkpoint.path()) + dtype + "-" + layout + ENDING);
        return new WeightPack(file, checkpoint, program, dtype, layout);
    }

    /** What begins the names of all packs of a checkpoint, which has its place, and not its contents, in its name. */
    public static String prefix(Path checkpoint) {
        try {
            Path real = checkpoint.toRealPath();
            return real.getFileName() + "-" + Sha256.of(real.toString()).substring(0, NAME_DIGITS) + "-";
        } catch (IOException e) {
            throw CheckpointException.unreadable(checkpoint, e);
        }
    }

    public Path file() {
        return file;
    }

    /**
     * Maps the pack; where that cannot be, loads the checkpoint and writes the pack.
     *
     * @param notices is told, a line each, why a pack is made again or cannot be written, which ends nothing
     * @return weights that live as long as the arena; they cannot be written
     * @throws CheckpointException as {@link WeightLoader#load}
     */
    public Weights load(Arena arena, Consumer<String> notices) {
        try {
            if (Files.exists(file)) {
                Optional<Weights> mapped = map(arena, notices);
                if (mapped.isPresent()) {
                    return mapped.get();
                }
            }
        } catch (IOException e) {
            notices.accept("the pack " + Quoted.path(file) + " cannot be read: " + IoReason.of(e));
        }
        List<MemorySegment> segments = new ArrayList<>();
        Weights weights = WeightLoader.load(checkpoint, program, dtype, recording(arena, segments));
        write(segments, notices);
        return weights;
    }

    private WeightAllocator recording(Arena arena, List<MemorySegment> segments) {
        ArenaAllocator memory = new ArenaAllocator(arena, layout);
        return new WeightAllocator() {
            @Override
            public MemorySegment allocate(String name, long bytes) {
                return allocateLayers(name, 1, bytes).getFirst();
            }

            @Override
            public List<MemorySegment> allocateLayers(String name, int layers, long layerBytes) {
                List<MemorySegment> parts = memory.allocateLayers(name, layers, layerBytes);
                segments.addAll(parts);
                return parts;
            }

            @Override
            public WeightLayout layout() {
                return layout;
            }
        };
    }

    /** Layer by layer, as an {@link ArenaAllocator} does. */
    private WeightAllocator allocator(WeightAllocator allocate) {
        return new WeightAllocator() {
            @Override
            public MemorySegment allocate(String name, long bytes) {
                return allocate.allocate(name, bytes);
            }

            @Override
            public List<MemorySegment> allocateLayers(String name, int layers, long layerBytes) {
                return IntStream.range(0, layers)
                        .mapToObj(_ -> allocate(name, layerBytes))
                        .toList();
            }

            @Override
            public WeightLayout layout() {
                return layout;
            }
        };
    }

    private Optional<Weights> map(Arena arena, Consumer<String> notices) throws IOException {
        List<Long> sizes = sizes();
        Places places = Places.of(sizes);
        try (FileChannel channel = FileChannel.open(file)) {
            if (channel.size() != places.fileBytes()) {
                notices.accept(again(
                        "has " + channel.size() + " bytes, expected " + places.fileBytes() + " for this checkpoint"));
                return Optional.empty();
            }
            byte[] header = new byte[places.headerBytes()];
            CheckpointFiles.readFully(file, channel, ByteBuffer.wrap(header), 0);
            Optional<String> problem = headerProblem(header);
            if (problem.isPresent()) {
                notices.accept(again(problem.get()));
                return Optional.empty();
            }
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, places.fileBytes(), arena);
            List<MemorySegment> segments = IntStream.range(0, sizes.size())
                    .mapToObj(i -> mapped.asSlice(places.offsets().get(i), sizes.get(i)))
                    .toList();
            if (!Arrays.equals(checksums(segments), expected(header, places))) {
                notices.accept(again("is damaged"));
                return Optional.empty();
            }
            Queue<MemorySegment> rest = new ArrayDeque<>(
                    segments.stream().map(segment -> plain(segment, arena)).toList());
            return Optional.of(allocate((_, _) -> rest.remove()));
        }
    }

    /** The weights in memory that is given, which is neither read nor written. */
    private Weights allocate(WeightAllocator memory) {
        WeightAllocator layered = allocator(memory);
        return dtype == DType.STORED
                ? new StoredLoader(new StoredTensors(checkpoint), layered).allocate(program)
                : new Weights(WeightLoader.allocate(program, dtype, layered));
    }

    private String again(String problem) {
        return "the pack " + Quoted.path(file) + " " + problem + ": it is made again";
    }

    /** The same memory without a mapped file's class: loops that have seen two classes of segments are slower. */
    @SuppressWarnings("restricted") // of the size that is mapped, for as long as it is
    private static MemorySegment plain(MemorySegment mapped, Arena arena) {
        return MemorySegment.ofAddress(mapped.address())
                .reinterpret(mapped.byteSize(), arena, null)
                .asReadOnly();
    }

    /** Bytes of what is allocated, in order. */
    private List<Long> sizes() {
        List<Long> sizes = new ArrayList<>();
        Weights _ = allocate((_, bytes) -> {
            sizes.add(bytes);
            return MemorySegment.NULL;
        });
        return sizes;
    }

    private Optional<String> headerProblem(byte[] header) {
        int end = header.length - Integer.BYTES;
        boolean sound = Arrays.equals(header, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
                && littleEndian(header).getInt(end) == checksum(header);
        if (!sound) {
            return Optional.of("is damaged");
        }
        boolean fits = Arrays.equals(header, MAGIC.length, MAGIC.length + key.length, key, 0, key.length);
        return fits ? Optional.empty() : Optional.of("is of another state of the checkpoint");
    }

    private int[] expected(byte[] header, Places places) {
        int[] checksums = new int[places.pieces()];
        littleEndian(header)
                .position(MAGIC.length + key.length)
                .slice()
                .order(ByteOrder.LITTLE_ENDIAN)
                .asIntBuffer()
                .get(checksums);
        return checksums;
    }

    private static ByteBuffer littleEndian(byte[] header) {
        return ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Of a header but for its own. */
    private static int checksum(byte[] header) {
        CRC32C crc = new CRC32C();
        crc.update(header, 0, header.length - Integer.BYTES);
        return (int) crc.getValue();
    }

    private static int[] checksums(List<MemorySegment> segments) {
        List<MemorySegment> pieces = new ArrayList<>();
        for (MemorySegment segment : segments) {
            for (long from = 0; from < segment.byteSize(); from += PIECE) {
                pieces.add(segment.asSlice(from, Math.min(PIECE, segment.byteSize() - from)));
            }
        }
        return pieces.parallelStream()
                .mapToInt(piece -> {
                    CRC32C crc = new CRC32C();
                    crc.update(piece.asByteBuffer());
                    return (int) crc.getValue();
                })
                .toArray();
    }

    private void write(List<MemorySegment> segments, Consumer<String> notices) {
        Places places = Places.of(segments.stream().map(MemorySegment::byteSize).toList());
        try {
            Files.createDirectories(file.getParent());
            long free = Files.getFileStore(file.getParent()).getUsableSpace();
            if (places.fileBytes() > free) {
                throw new IOException(places.fileBytes() + " bytes are needed, and " + free + " are free");
            }
            WholeFile.write(file, channel -> write(channel, segments, places));
        } catch (IOException e) {
            notices.accept(
                    "the pack " + Quoted.path(file) + " cannot be written, and nothing was packed: " + IoReason.of(e));
        }
    }

    private void write(FileChannel channel, List<MemorySegment> segments, Places places) throws IOException {
        byte[] header = new byte[places.headerBytes()];
        ByteBuffer fields = littleEndian(header).put(MAGIC).put(key);
        for (int checksum : checksums(segments)) {
            fields.putInt(checksum);
        }
        fields.putInt(checksum(header));
        WholeFile.writeFully(channel, ByteBuffer.wrap(header));
        for (int i = 0; i < segments.size(); i++) {
            MemorySegment segment = segments.get(i);
            channel.position(places.offsets().get(i));
            for (long from = 0; from < segment.byteSize(); from += MAX_WRITE) {
                long count = Math.min(MAX_WRITE, segment.byteSize() - from);
                WholeFile.writeFully(channel, segment.asSlice(from, count).asByteBuffer());
            }
        }
    }

    /** Where in the file what is. */
    private record Places(List<Long> offsets, int pieces, int headerBytes, long fileBytes) {
        static Places of(List<Long> sizes) {
            int pieces = sizes.stream()
                    .mapToInt(bytes -> Math.toIntExact(Math.ceilDiv(bytes, PIECE)))
                    .reduce(0, Math::addExact);
            int headerBytes = Math.addExact(
                    MAGIC.length + Sha256.digest().getDigestLength(),
                    Math.multiplyExact(Integer.BYTES, Math.addExact(pieces, 1)));
            List<Long> offsets = new ArrayList<>();
            long end = headerBytes;
            for (long bytes : sizes) {
                long start = Math.ceilDiv(end, ALIGNMENT) * ALIGNMENT;
                offsets.add(start);
                end = Math.addExact(start, bytes);
            }
            return new Places(List.copyOf(offsets), pieces, headerBytes, end);
        }
    }
}
