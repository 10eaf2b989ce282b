package io.github.tornadotransformers.taskgraphs.devices;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.stream.Stream;

/** Linux's calls on file descriptors. */
final class Descriptors {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;

    /** {@code MFD_CLOEXEC} */
    private static final int NOT_FOR_CHILDREN = 1;

    /** {@code SEEK_END} */
    private static final int FROM_END = 2;

    /** {@code FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE} */
    private static final int HOLE = 3;

    private final MethodHandle dup = function("dup", INT, INT);
    private final MethodHandle dup2 = function("dup2", INT, INT, INT);
    private final MethodHandle close = function("close", INT, INT);
    private final MethodHandle create = function("memfd_create", INT, POINTER, INT);
    private final MethodHandle seek = function("lseek", LONG, INT, LONG, INT);
    private final MethodHandle read = function("pread", LONG, INT, POINTER, LONG, LONG);
    private final MethodHandle write = function("write", LONG, INT, POINTER, LONG);
    private final MethodHandle allocate = function("fallocate", INT, INT, INT, LONG, LONG);

    /** Whether this process may call them: on Linux, where Java was started with access to native code. */
    static boolean areAvailable() {
        return Descriptors.class.getModule().isNativeAccessEnabled()
                && Stream.of("dup2", "memfd_create", "fallocate")
                        .allMatch(name ->
                                Linker.nativeLinker().defaultLookup().find(name).isPresent());
    }

    @SuppressWarnings("restricted") // asked for before: areAvailable
    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        MethodHandle function = linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
        return function.asSpreader(Object[].class, arguments.length);
    }

    /** A file in memory, without a name. */
    int createInMemory() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return (int) call("memfd_create", create, arena.allocateFrom("output"), NOT_FOR_CHILDREN);
        }
    }

    /** Another descriptor of the same file. */
    int duplicate(int descriptor) throws IOException {
        return (int) call("dup", dup, descriptor);
    }

    /** Makes {@code descriptor} one of the file that {@code by} describes. */
    void replace(int descriptor, int by) throws IOException {
        call("dup2", dup2, by, descriptor);
    }

    void close(int descriptor) throws IOException {
        call("close", close, descriptor);
    }

    /** Bytes of a file. */
    long size(int descriptor) throws IOException {
        return call("lseek", seek, descriptor, 0L, FROM_END);
    }

    /** Bytes of a file from {@code start} to before {@code end}. */
    byte[] read(int descriptor, long start, long end) throws IOException {
        byte[] bytes = new byte[Math.toIntExact(end - start)];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Math.max(bytes.length, 1));
            int done = 0;
            while (done < bytes.length) {
                int more = (int)
                        call("pread", read, descriptor, buffer.asSlice(done), (long) bytes.length - done, start + done);
                if (more == 0) {
                    return Arrays.copyOf(bytes, done);
                }
                MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, done, bytes, done, more);
                done += more;
            }
        }
        return bytes;
    }

    void write(int descriptor, byte[] bytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment rest = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            while (rest.byteSize() > 0) {
                rest = rest.asSlice(call("write", write, descriptor, rest, rest.byteSize()));
            }
        }
    }

    /** Frees the memory of a file's first bytes; the others stay where they are. */
    void forget(int descriptor, long bytes) throws IOException {
        call("fallocate", allocate, descriptor, HOLE, 0L, bytes);
    }

    private static long call(String name, MethodHandle function, Object... arguments) throws IOException {
        long result;
        try {
            result = ((Number) function.invoke(arguments)).longValue();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(name, e);
        }
        if (result < 0) {
            throw new IOException(name + " failed");
        }
        return result;
    }
}
