package io.github.tornadotransformers.taskgraphs.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Zeros that take no memory until they are written: the C library's {@code calloc} leaves large ones to the system, where an arena's own are
 * cleared, which brings every page. An array that only names a device's memory is never touched by TornadoVM's OpenCL, SPIR-V and Metal
 * backends; those for CUDA and PTX pin what kernels write, which brings it after all.
 */
final class UntouchedMemory {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Optional<MethodHandle> CALLOC = function(
            "calloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final Optional<MethodHandle> FREE = function("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

    private UntouchedMemory() {}

    /** Empty where this process may not call native code, or has another C library. */
    @SuppressWarnings("restricted") // asked for before
    private static Optional<MethodHandle> function(String name, FunctionDescriptor descriptor) {
        return Optional.of(UntouchedMemory.class.getModule())
                .filter(Module::isNativeAccessEnabled)
                .flatMap(_ -> LINKER.defaultLookup().find(name))
                .map(symbol -> LINKER.downcallHandle(symbol, descriptor));
    }

    /**
     * @param alignment a power of two
     * @return {@code bytes} zeros, which live as long as the arena
     * @throws OutOfMemoryError if the system has no room for them
     */
    @SuppressWarnings("restricted") // asked for before
    static MemorySegment allocate(long bytes, long alignment, Arena arena) {
        if (CALLOC.isEmpty() || FREE.isEmpty()) {
            return arena.allocate(bytes, alignment);
        }
        long padded = Math.addExact(bytes, alignment);
        MemorySegment memory;
        try {
            memory = (MemorySegment) CALLOC.get().invokeExact(1L, padded);
        } catch (Throwable e) {
            throw new IllegalStateException("calloc cannot be called", e);
        }
        if (memory.equals(MemorySegment.NULL)) {
            throw new OutOfMemoryError("cannot allocate " + padded + " bytes");
        }
        MemorySegment whole = memory.reinterpret(padded, arena, UntouchedMemory::free);
        return whole.asSlice(-whole.address() & (alignment - 1), bytes);
    }

    private static void free(MemorySegment memory) {
        try {
            FREE.orElseThrow().invokeExact(memory);
        } catch (Throwable e) {
            throw new IllegalStateException("free cannot be called", e);
        }
    }
}
