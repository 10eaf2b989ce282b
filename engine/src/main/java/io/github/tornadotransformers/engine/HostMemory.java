package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.host.HostInterpreter;
import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/** The machine's memory, as Linux tells it; elsewhere nothing is known, and nothing is refused. */
public final class HostMemory {
    private static final Path MACHINE = Path.of("/proc/meminfo");
    private static final Path PROCESS = Path.of("/proc/self/status");
    private static final ControlGroups CONTROL_GROUPS = ControlGroups.of(Path.of("/"));
    private static final double GIB = 1L << 30;

    private HostMemory() {}

    /** @throws MemoryException with both figures, if weights and cache do not fit what is free */
    static void require(Program program, long weightBytes, DType dtype) {
        requireFree(weightBytes, program.cacheBytes(), dtype);
    }

    private static void requireFree(long weightBytes, long cacheBytes, DType dtype) {
        OptionalLong free = free();
        if (free.isPresent()) {
            require(weightBytes, cacheBytes, free.getAsLong(), dtype);
        }
    }

    /** As {@link #require(Program, long, DType)}, for an engine that keeps the cache in pages in the JVM's heap. */
    static void requireWithHeap(Program program, long weightBytes, DType dtype, EngineSettings settings) {
        long cacheBytes = cacheBytes(program, settings);
        requireFree(weightBytes, cacheBytes, dtype);
        requireHeap(program.contextLength(), cacheBytes, freeHeap());
    }

    /**
     * For pages of keys and values: what was asked for, at least a page; else what the sequences need when all are as long as the
     * context, or, of more than one, as much of it as the heap can give.
     */
    static long cacheBytes(Program program, EngineSettings settings) {
        long one = HostInterpreter.cacheBytes(program, settings.kvType(), program.contextLength());
        if (settings.cacheBytes().isPresent()) {
            return Math.max(
                    settings.cacheBytes().getAsLong(), HostInterpreter.cacheBytes(program, settings.kvType(), 1));
        }
        long all = Math.multiplyExact(one, (long) settings.sequences());
        return Math.max(one, Math.min(all, freeHeap() / 4 * 3));
    }

    private static long freeHeap() {
        Runtime jvm = Runtime.getRuntime();
        return jvm.maxMemory() - (jvm.totalMemory() - jvm.freeMemory());
    }

    static void requireHeap(int context, long cacheBytes, long freeBytes) {
        if (cacheBytes > freeBytes) {
            throw new MemoryException(Wording.of(
                    "the cache of %d positions needs %s of the JVM's heap, which has room for %s: try a smaller %s, or"
                            + " %s-Xmx…",
                    context,
                    ByteCount.binaryWords(cacheBytes),
                    ByteCount.binaryWords(freeBytes),
                    Term.CONTEXT,
                    Term.JVM_FLAG));
        }
    }

    /** How much a model takes, for a message. */
    static String figures(Program program, long weightBytes, DType dtype) {
        return ByteCount.binaryWords(weightBytes) + " of weights as "
                + dtype.toString().toLowerCase(Locale.ROOT) + ", " + ByteCount.binaryWords(program.cacheBytes())
                + " of cache for " + program.contextLength() + " positions";
    }

    static void require(long weightBytes, long cacheBytes, long freeBytes, DType dtype) {
        if (Math.addExact(weightBytes, cacheBytes) > freeBytes) {
            throw new MemoryException(Wording.of(
                    "the model needs %.1f GiB (weights as %s %.1f, cache %.1f), but %.1f GiB of memory are free: try"
                            + " %s bf16 or int8, or a smaller %s",
                    (weightBytes + cacheBytes) / GIB,
                    dtype.toString().toLowerCase(Locale.ROOT),
                    weightBytes / GIB,
                    cacheBytes / GIB,
                    freeBytes / GIB,
                    Term.DTYPE,
                    Term.CONTEXT));
        }
    }

    /** What the machine, and each control group of the process, can still give. */
    private static OptionalLong free() {
        return less(kibibytes(MACHINE, "MemAvailable:"), CONTROL_GROUPS.freeBytes());
    }

    /** All memory of the machine that the process may have, in bytes. */
    public static OptionalLong totalBytes() {
        return less(kibibytes(MACHINE, "MemTotal:"), CONTROL_GROUPS.limitBytes());
    }

    private static OptionalLong less(OptionalLong machine, OptionalLong groups) {
        return LongStream.concat(machine.stream(), groups.stream()).min();
    }

    /** The most memory that the process has had, in bytes. */
    public static OptionalLong peakBytes() {
        return kibibytes(PROCESS, "VmHWM:");
    }

    private static OptionalLong kibibytes(Path file, String field) {
        for (String line : lines(file)) {
            if (line.startsWith(field)) {
                String digits = line.substring(field.length()).replace("kB", "").strip();
                return OptionalLong.of(Long.parseLong(digits) << 10);
            }
        }
        return OptionalLong.empty();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.isReadable(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }
}
