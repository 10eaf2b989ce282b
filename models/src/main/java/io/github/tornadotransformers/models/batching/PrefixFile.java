package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A file of pages with their tokens, for another process. Little-endian: a magic number, the length of the head, the CRC-32C of the
 * rest of the head; then the key, the bytes of a page, and for each page its parent's index, its tokens and the CRC-32C of its
 * bytes; behind the head the pages, one after the other. Parents stand before their children.
 */
final class PrefixFile {
    private static final long MAGIC = 0x3145_4741_504B_5654L; // "TVKPAGE1"
    private static final int PREFIX_BYTES = Long.BYTES + 2 * Integer.BYTES;
    private static final int NO_PARENT = -1;

    private PrefixFile() {}

    /**
     * A page and where it belongs.
     *
     * @param parent index of the page before it; less than 0: none
     * @param page its number in memory; of no meaning in a file
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    record Entry(int parent, int page, int[] tokens) {}

    /** @throws IOException if it cannot be written; an older file of that name is then as it was */
    static void write(Path file, String key, List<Entry> entries, PageMemory memory) throws IOException {
        int bytes = Math.toIntExact(memory.pageBytes());
        byte[] page = new byte[bytes];
        int[] checksums = new int[entries.size()];
        for (int i = 0; i < checksums.length; i++) {
            memory.save(entries.get(i).page, MemorySegment.ofArray(page));
            checksums[i] = checksum(page, 0, bytes);
        }
        byte[] head = head(key, bytes, entries, checksums);
        WholeFile.write(file, channel -> {
            WholeFile.writeFully(channel, ByteBuffer.wrap(head));
            for (Entry entry : entries) {
                memory.save(entry.page, MemorySegment.ofArray(page));
                WholeFile.writeFully(channel, ByteBuffer.wrap(page));
            }
        });
    }

    private static byte[] head(String key, int pageBytes, List<Entry> entries, int[] checksums) {
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        int size = PREFIX_BYTES + name.length + 3 * Integer.BYTES;
        for (Entry entry : entries) {
            size = Math.addExact(size, (3 + entry.tokens.length) * Integer.BYTES);
        }
        byte[] bytes = new byte[size];
        ByteBuffer head = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(PREFIX_BYTES);
        head.putInt(name.length).put(name).putInt(pageBytes).putInt(entries.size());
        for (int i = 0; i < checksums.length; i++) {
            Entry entry = entries.get(i);
            head.putInt(Math.max(NO_PARENT, entry.parent)).putInt(checksums[i]).putInt(entry.tokens.length);
            Arrays.stream(entry.tokens).forEach(head::putInt);
        }
        head.putLong(0, MAGIC).putInt(Long.BYTES, size);
        head.putInt(Long.BYTES + Integer.BYTES, checksum(bytes, PREFIX_BYTES, size - PREFIX_BYTES));
        return bytes;
    }

    /** Takes the pages of a file, in its order. */
    interface Sink {
        /**
         * @param parent what this gave for the page before it; less than 0: none
         * @return what to give for it as a parent; less than 0: there is no room, neither for it nor for those behind it
         */
        int accept(int parent, int[] tokens, MemorySegment bytes);
    }

    /**
     * Hands over all whole pages of a file.
     *
     * @param vocabSize that all tokens are below
     * @return why pages were left out, in words; empty where none was, or there is no file
     */
    static Optional<String> read(Path file, String key, long pageBytes, int vocabSize, Sink sink) {
        if (Files.notExists(file)) {
            return Optional.empty();
        }
        try (FileChannel channel = FileChannel.open(file);
                Arena arena = Arena.ofConfined()) {
            MemorySegment all = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return read(all, key, pageBytes, vocabSize, sink)
                    .map(reason -> Quoted.path(file) + " " + reason + ": it is made anew");
        } catch (IOException e) {
            return Optional.of(Quoted.path(file) + " cannot be read (" + IoReason.of(e) + "): it is made anew");
        }
    }

    private static Optional<String> read(MemorySegment all, String key, long pageBytes, int vocabSize, Sink sink) {
        if (all.byteSize() < PREFIX_BYTES) {
            return Optional.of("is no file of kept keys and values");
        }
        ByteBuffer prefix = all.asSlice(0, PREFIX_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        if (prefix.getLong() != MAGIC) {
            return Optional.of("is no file of kept keys and values");
        }
        int size = prefix.getInt();
        int checksum = prefix.getInt();
        if (size < PREFIX_BYTES || size > all.byteSize()) {
            return Optional.of("is damaged");
        }
        byte[] bytes = all.asSlice(PREFIX_BYTES, size - PREFIX_BYTES).toArray(ValueLayout.JAVA_BYTE);
        if (checksum(bytes, 0, bytes.length) != checksum) {
            return Optional.of("is damaged");
        }
        try {
            return readHead(all.asSlice(size), bytes, key, pageBytes, vocabSize, sink);
        } catch (BufferUnderflowException | NegativeArraySizeException _) {
            return Optional.of("is damaged");
        }
    }

    private static Optional<String> readHead(
            MemorySegment pages, byte[] bytes, String key, long pageBytes, int vocabSize, Sink sink) {
        ByteBuffer head = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        byte[] name = new byte[Math.min(head.getInt(), head.remaining())];
        head.get(name);
        if (!new String(name, StandardCharsets.UTF_8).equals(key) || head.getInt() != pageBytes) {
            return Optional.of("is of another model, or of other types");
        }
        return readPages(pages, head, Math.toIntExact(pageBytes), vocabSize, sink);
    }

    private static Optional<String> readPages(
            MemorySegment pages, ByteBuffer head, int pageBytes, int vocabSize, Sink sink) {
        int count = head.getInt();
        if ((long) count * pageBytes != pages.byteSize()) {
            return Optional.of("is cut off");
        }
        List<Integer> given = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int parent = head.getInt();
            int checksum = head.getInt();
            int[] tokens = new int[Math.min(head.getInt(), AttentionShape.PAGE + 1)];
            lengths.add(tokens.length);
            for (int t = 0; t < tokens.length; t++) {
                tokens[t] = head.getInt();
            }
            MemorySegment page = pages.asSlice((long) i * pageBytes, pageBytes);
            byte[] bytes = page.toArray(ValueLayout.JAVA_BYTE);
            boolean follows = parent < 0 || parent < i && lengths.get(parent) == AttentionShape.PAGE;
            if (!follows || !areTokens(tokens, vocabSize) || checksum(bytes, 0, pageBytes) != checksum) {
                return Optional.of("is damaged");
            }
            if (parent >= 0 && given.get(parent) < 0) {
                given.add(NO_PARENT);
            } else {
                given.add(
                        sink.accept(parent < 0 ? NO_PARENT : given.get(parent), tokens, MemorySegment.ofArray(bytes)));
            }
        }
        return Optional.empty();
    }

    private static boolean areTokens(int[] tokens, int vocabSize) {
        return tokens.length > 0
                && tokens.length <= AttentionShape.PAGE
                && Arrays.stream(tokens).allMatch(token -> token >= 0 && token < vocabSize);
    }

    private static int checksum(byte[] bytes, int offset, int count) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, offset, count);
        return (int) checksum.getValue();
    }
}
